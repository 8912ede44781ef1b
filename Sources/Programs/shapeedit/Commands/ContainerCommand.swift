import ArgumentParser
import Content
import Coordination
import DocumentFiles
import DocumentKit
import FileSystem
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit container ...`.
struct ContainerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container", abstract: "Make, list, describe, delete and check containers.",
        subcommands: [
            Create.self, List.self, Info.self, Delete.self, Check.self, MoveStore.self,
        ])

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Make an empty container.")
        @Argument(help: "The new container's name.") var name: String
        @Option(
            help: ArgumentHelp(
                "Where the contents go too, so that they can be let go here: folder:PATH, "
                    + "s3://BUCKET[/PREFIX][?endpoint=URL], dav://HOST/PATH or davs://HOST/PATH.",
                valueName: "address"))
        var store: String?
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            let path = try Containers.path(name)
            let store = store.map(ContainerStore.usualForm)
            if let store { try ContainerStore.prepare(store) }
            try Containers.create(name, store: store)
            if let store { ContainerStore.claim(store, path) }
            if json {
                Console.say(
                    JSONText.object(
                        [("name", JSONText.string(name))] + JSONText.path("folder", path)
                            + [("store", JSONText.string(store))]))
            } else {
                Console.say("Made \(name) in \(path).")
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the containers.",
            discussion: """
                Also those whose catalog is missing, whose folder may not be entered, or that a link leads to on a \
                disk that is not there: what is wrong with them is said on standard error.
                """)
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            let lost = try Containers.lost()
            let names = (try Containers.names() + lost.keys).sorted()
            if json {
                Console.say(JSONText.array(names.map(PathText.quoted)))
            } else {
                for name in names { Console.say(name) }
            }
            for name in names { lost[name].map { Console.complain($0.message) } }
        }
    }

    struct Info: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "info", abstract: "Describe a container.")
        @Argument(help: "The container.", completion: .containers) var name: String
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            let path = try Containers.path(name)
            try Containers.checkExists(name)
            let bytes = Self.size(of: MountTable.resolved(path) ?? path)
            // Where the catalog cannot be read, all else is told first.
            let store: String?
            let problem: Failure?
            do throws(Failure) { (store, problem) = (try Containers.store(name), nil) } catch {
                (store, problem) = (nil, error)
            }
            let points = MountTable.mountPoints()
            // One that does not answer, or not to this user, is mounted all the same.
            let told = Container.mountPoint(at: path).flatMap {
                MountTable.isMounted($0) ? $0 : nil
            }
            let point =
                told
                ?? points.first { MountStatus(of: $0).path("folder") == path }
            if json {
                Console.say(
                    JSONText.object(
                        [("name", JSONText.string(name))] + JSONText.path("folder", path)
                            + [("bytes", "\(bytes)"), ("store", JSONText.string(store))]
                            + JSONText.path("mountPoint", point)))
            } else {
                Console.say(line: "\(name): \(path), \(Count.size(bytes)) on the disk")
                if let store { Console.say(line: "its store: \(store)") }
                Console.say(line: point.map { "mounted at \($0)" } ?? "not mounted")
            }
            if let problem { throw problem }
        }

        private static func size(of path: String) -> UInt64 {
            var counted: Set<ino_t> = []
            return size(of: path, &counted)
        }

        /// - Parameter counted: the files with several names that are counted already.
        private static func size(of path: String, _ counted: inout Set<ino_t>) -> UInt64 {
            var status = stat()
            guard lstat(path.cPath, &status) == 0 else { return 0 }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            if !isFolder, status.st_nlink > 1, !counted.insert(status.st_ino).inserted { return 0 }
            var total = UInt64(status.st_blocks) * 512
            if isFolder {
                for name in (try? Directories.names(in: path)) ?? [] {
                    total += size(of: path + "/" + name, &counted)
                }
            }
            return total
        }
    }

    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a container with everything in it.",
            discussion: """
                Files of others in its folder are left alone and named. If its catalog cannot be read, or is one \
                of a newer version, that is said first.
                """)
        @Argument(help: "The container.", completion: .containers) var name: String
        @Flag(help: "Do not ask.") var force = false
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            let path = try Containers.path(name)
            let folder = ContainerFolder(path: path)
            try folder.checkOurs(name)
            if try Containers.exists(name) {
                // It may hold more than who deletes it believes.
                do throws(Failure) { _ = try Containers.store(name) } catch {
                    Console.complain(error.message)
                }
            } else {
                let foreign = Self.foreign(in: folder)
                // What was deleted before has left these in its folders.
                if !foreign.isEmpty, (try? Directories.holds(path, only: Set(foreign))) == true {
                    throw folder.foreign(name)
                }
            }
            if !force, isatty(0) == 1 {
                Console.complain("delete \(name) with all its documents and versions? (yes/no)")
                guard readLine() == "yes" else { throw Failure(.usage, "nothing was deleted") }
            }
            // Only the link would go, and all documents stay behind it.
            if (try? SymbolicLink.target(of: path)) != nil, let target = MountTable.resolved(path) {
                throw Failure(
                    .unavailable,
                    "\(path) is a link to \(target), where the documents are: remove that folder, then "
                        + "the link")
            }
            // Held while it goes, so that nobody mounts half of it. Its file goes last: who finds none makes
            // another, which nobody holds. The catalog goes first: without it nobody mounts what is left where
            // this is cut off. What somebody else has put beside its files is not its own.
            let lock = try Container.lock(name, at: path, holder: "being deleted")
            let last = folder.lock
            let first = folder.catalog
            let identity = Container.identity(at: path)
            let removePictures = DesktopPlaces(folder).removal(ofContainer: name)
            let foreign = Self.foreign(in: folder)
            do throws(Errno) {
                let kept = Set(foreign)
                try Directories.removeTree(first)
                try Directories.removeTree(path, except: kept.union([last]))
                try Directories.removeTree(foreign.isEmpty ? path : last)
            } catch {
                throw Failure(.inputOutput, "\(path): \(error)")
            }
            withExtendedLifetime(lock) {}
            removePictures()
            if let identity { DocumentHistories.remove(ofContainer: name, identity: identity) }
            for entry in foreign {
                Console.complain("\(entry) does not belong to the container; it was left alone")
            }
            if json {
                Console.say(
                    JSONText.object(
                        [("name", JSONText.string(name))] + JSONText.path("folder", path)))
            } else {
                Console.say("Deleted \(name).")
            }
        }

        private static func foreign(in folder: ContainerFolder) -> [String] {
            ForeignFiles.paths(in: folder).map { folder.path + "/" + $0 }
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Verify a container against its contents and repair what can be repaired.",
            discussion: """
                The container's store is asked what it has; contents that it lost and that are here go \
                there again. A store that does not answer is not checked.

                Exit status 0: sound. 1: damage was found and repaired. 65: damage was found that \
                could not be repaired; what is lost is named.
                """)
        @Argument(help: "The container; it must not be mounted.", completion: .containers)
        var name: String
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            let report = try ContainerCheck.run(
                name, at: try Containers.path(name), stored: ContainerStore.contents)
            if json {
                let list = report.findings.map { finding in
                    "  {\"problem\": \(PathText.quoted(finding.problem)), "
                        + "\"repaired\": \(finding.repaired)}"
                }
                Console.say(
                    "{\"container\": \(PathText.quoted(name)), \"items\": \(report.items), "
                        + "\"versions\": \(report.versions), \"sound\": \(report.findings.isEmpty), "
                        + "\"findings\": [\(list.isEmpty ? "" : "\n" + list.joined(separator: ",\n") + "\n")]}"
                )
            } else {
                for finding in report.findings {
                    Console.say(
                        line: (finding.repaired ? "repaired: " : "damaged: ") + finding.problem)
                }
                Console.say(
                    "\(name): \(Count.words(report.items, "item")), "
                        + "\(Count.words(report.versions, "version")) checked, "
                        + (report.findings.isEmpty
                            ? "sound" : "\(Count.words(report.findings.count, "problem")) found"))
            }
            if report.findings.contains(where: { !$0.repaired }) { throw ExitCode(65) }
            if !report.findings.isEmpty { throw ExitCode(1) }
        }
    }

    struct MoveStore: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "move-store", abstract: "Take a container's contents to another store.",
            discussion: """
                Everything is copied and verified before the container changes over; cut off \
                anywhere, the next attempt goes on. The old store is left as it is. A container \
                without a store gets one: its contents go there when it is mounted. If another \
                container uses the new store, two minutes pass before the copying begins, or twelve \
                if that one was removing something there.

                What the old store has lost of earlier versions is told, and keeps nothing else from being \
                moved: exit status 65. Where it does not answer, or has lost a document, nothing is changed.

                A server that does not answer is given up after 20 s; one that stops while something is sent \
                to it, after two and a half minutes, since one that reads 1 KiB/s needs as long. The \
                container has its store as before then: exit status 69.
                """)
        @Argument(help: "The container; it must not be mounted.", completion: .containers)
        var name: String
        @Argument(
            help: """
                The new store's address, as for create; none brings all contents here, to stay.
                """)
        var address: String
        @Flag(help: "Print JSON; progress goes to standard error, a JSON object a line.")
        var json = false

        func run() throws {
            let target = address == "none" ? nil : ContainerStore.usualForm(address)
            if let target { try ContainerStore.check(target) }
            let container = try Container(
                name, at: try Containers.path(name), holder: "being moved to another store")
            defer { container.close() }
            if let target {
                // The store that it has is there, or its disk is not mounted: a new one in its place would
                // be taken for it.
                let isSame = try container.store.map { (store) throws(Failure) in
                    try ContainerStore.isSame(store, target)
                }
                if isSame != true { try ContainerStore.prepare(target) }
                let path = try Containers.path(name)
                ContainerStore.claim(target, path)
                try ContainerStore.join(target, path)
            }
            let former = container.store
            let lost = try StoreMove(container, to: target).run(json: json)
            if json {
                Console.say(
                    JSONText.object([
                        ("name", JSONText.string(name)),
                        ("store", target.map(JSONText.string) ?? "null"),
                        ("lost", JSONText.array(lost.map(JSONText.string))),
                    ]))
            } else {
                Console.say(line: "\(name): its store is \(target ?? "none") now")
            }
            if lost.isEmpty { return }
            for line in lost { Console.complain("lost: \(line)") }
            var words = "\(name): all has been moved but what is lost, which stays a promise"
            if let former {
                words += "; \(former) is as it was, for move-store to find what comes back"
            }
            throw Failure(.badData, words)
        }
    }
}
