import Glibc
import Testing
import Thumbnailing

/// `Scripts/install` and `Scripts/uninstall`, in a folder of their own.
@Suite(.serialized) struct InstallationTests {
    private let folder: TemporaryFolder
    private var prefix: String { folder.path + "/prefix" }

    init() throws {
        folder = try TemporaryFolder()
        // The programs of this build are found by name; one of them need not be built for this.
        _ = try Surroundings.run(
            """
            cd '\(folder.path)' && mkdir build && cp '\(Surroundings.program)' build/ \
            && cp '\(Surroundings.program)' build/shapeedit
            """)
    }

    /// Of a user whose folders are where they usually are, wherever those of who runs the tests are.
    private var user: String {
        "env -u XDG_DATA_HOME -u XDG_CONFIG_HOME HOME='\(folder.path)/home'"
    }

    private func script(_ name: String, _ arguments: String) throws {
        let (code, output) = try Surroundings.run(
            "\(user) '\(Surroundings.package)/Scripts/\(name)' \(arguments)")
        #expect(code == 0, "\(output)")
    }

    private func files() throws -> [String] {
        try Surroundings.run("cd '\(folder.path)' && find . -mindepth 1 ! -path './build*'").output
            .split(separator: "\n").map(String.init).sorted()
    }

    @Test(arguments: ["--user", "--system"])
    func `uninstalling leaves nothing`(_ scope: String) throws {
        try script("install", "\(scope) --prefix '\(prefix)' --build '\(folder.path)/build'")
        let installed = try files()
        for name in [
            "bin/shapeedit", "bin/shapeedit-thumbnailer", "share/man/man1/shapeedit.1",
            "share/shapeedit/schemas/shapeedit-output.schema.json",
            "share/thumbnailers/shapeedit.thumbnailer", "share/applications/shapeedit.desktop",
            "share/mime/packages/shapeedit.xml", "share/icons/hicolor/scalable/apps/shapeedit.svg",
        ] {
            #expect(installed.contains("./prefix/\(name)"), "\(installed)")
        }
        #expect(installed.contains("./prefix/sbin/mount.shapeedit") == (scope == "--system"))
        // Twice is as good as once.
        try script("install", "\(scope) --prefix '\(prefix)' --build '\(folder.path)/build'")
        #expect(try files() == installed)
        try script("uninstall", "\(scope) --prefix '\(prefix)'")
        #expect(try files() == ["./prefix"])
    }

    @Test func `a user's data and units go where the environment says`() throws {
        let own = "\(folder.path)/own"
        let environment = "env XDG_DATA_HOME='\(own)/data' XDG_CONFIG_HOME='\(own)/config'"
        func run(_ script: String) throws {
            let (code, output) = try Surroundings.run(
                "HOME='\(folder.path)/home' \(environment)"
                    + " '\(Surroundings.package)/Scripts/'\(script)")
            #expect(code == 0, "\(output)")
        }
        try run("install --user --build '\(folder.path)/build'")
        for name in [
            "own/data/thumbnailers/shapeedit.thumbnailer", "own/data/mime/packages/shapeedit.xml",
            "own/data/applications/shapeedit.desktop", "own/config/systemd/user/shapeedit@.service",
            // man(1) looks beside the programs.
            "home/.local/bin/shapeedit", "home/.local/share/man/man1/shapeedit.1",
        ] {
            #expect(try files().contains("./" + name), "\(name)")
        }
        #expect(try !files().contains("./home/.local/share/thumbnailers"))
        try run("uninstall --user")
        #expect(try files() == ["./home", "./home/.local", "./own", "./own/config", "./own/data"])
        // As desktops do, which pass over what is no absolute path.
        _ = try Surroundings.run("rm -rf '\(folder.path)/home' '\(own)'")
        let (code, output) = try Surroundings.run(
            "cd '\(folder.path)' && \(user) XDG_DATA_HOME=relative"
                + " '\(Surroundings.package)/Scripts/install' --build '\(folder.path)/build'")
        #expect(code == 0, "\(output)")
        #expect(
            try files().contains("./home/.local/share/thumbnailers/shapeedit.thumbnailer"))
    }

    @Test(arguments: ["bin/shapeedit", "systemd/user/shapeedit@.service"])
    func `what was installed stays whole where an installation is cut off`(_ name: String) throws {
        let arguments = "--user --prefix '\(prefix)' --build '\(folder.path)/build'"
        try script("install", arguments)
        let before = try Surroundings.contents("\(prefix)/\(name)")
        let file = name.split(separator: "/").last ?? ""
        // What writes a file is killed in the middle of it, and the script with it.
        let (code, _) = try Surroundings.run(
            """
            mkdir '\(folder.path)/path' && cd '\(folder.path)/path' && cat >install <<'END'
            #!/bin/bash
            for target; do :; done
            case $target in */\(file) | */.\(file).new)
                mkdir -p "${target%/*}" && echo half >"$target" && kill -9 $PPID
                exit 1
            esac
            exec /usr/bin/install "$@"
            END
            chmod +x install && PATH="$PWD:$PATH" HOME='\(folder.path)/home' \
            '\(Surroundings.package)/Scripts/install' \(arguments)
            """)
        #expect(code != 0)
        #expect(try Surroundings.contents("\(prefix)/\(name)") == before)
        try script("install", arguments)
        #expect(try Surroundings.contents("\(prefix)/\(name)") == before)
        try script("uninstall", "--user --prefix '\(prefix)'")
        #expect(try files().filter { !$0.hasPrefix("./path") } == ["./prefix"])
    }

    @Test func `a unit that was enabled is not looked for any more`() throws {
        let units = "\(folder.path)/home/.config/systemd/user"
        try script("install", "--user --build '\(folder.path)/build'")
        _ = try Surroundings.run(
            """
            mkdir '\(units)/default.target.wants' && cd '\(units)/default.target.wants' \
            && ln -s '\(units)/shapeedit@.service' shapeedit@work.service \
            && ln -s /nonexistent other@work.service
            """)
        try script("uninstall", "--user")
        #expect(
            try files().filter { $0.hasSuffix(".service") }
                == ["./home/.config/systemd/user/default.target.wants/other@work.service"])
    }

    @Test func `a staged system installation has its helper where mount looks`() throws {
        let stage = folder.path + "/stage"
        setenv("DESTDIR", stage, 1)
        defer { unsetenv("DESTDIR") }
        try script("install", "--system --build '\(folder.path)/build'")
        #expect(access("\(stage)/sbin/mount.shapeedit", X_OK) == 0)
        let entry = try Surroundings.run(
            "cat '\(stage)/usr/local/share/thumbnailers/shapeedit.thumbnailer'"
        ).output
        #expect(entry.contains("\nExec=/usr/local/bin/shapeedit-thumbnailer %i %o %s\n"))
        // Nothing but what the list names: a package with a cache would replace the machine's.
        #expect(
            try files().allSatisfy { !$0.hasSuffix(".cache") && !$0.hasSuffix("mime/globs2") })
        try script("uninstall", "--system")
        #expect(try files().allSatisfy { !$0.contains("shapeedit") })
    }

    @Test func `commands are found in a folder with a space in its name`() throws {
        let spaced = folder.path + "/my & programs"
        try script("install", "--user --prefix '\(spaced)' --build '\(folder.path)/build'")
        let lines = try Surroundings.run(
            "cd '\(spaced)/share' && cat thumbnailers/shapeedit.thumbnailer applications/*.desktop"
        ).output
        for line in [
            "TryExec=\(spaced)/bin/shapeedit", "TryExec=\(spaced)/bin/shapeedit-thumbnailer",
            "Exec=\"\(spaced)/bin/shapeedit\" edit %f",
            "Exec=\"\(spaced)/bin/shapeedit-thumbnailer\" %i %o %s",
        ] {
            #expect(lines.contains("\n\(line)\n"), "\(lines)")
        }
        try script("uninstall", "--user --prefix '\(spaced)'")
        #expect(try files() == ["./my & programs"])
    }

    /// By the rules of desktop entries and of units, and as GLib and systemd keep them.
    @Test func `commands are found whatever the name of the folder has in it`() throws {
        let odd = folder.path + "/a %f $HOME \\d\"q'`x%%"
        setenv("ODD", odd, 1)
        defer { unsetenv("ODD") }
        try script("install", "--user --prefix \"$ODD\" --build '\(folder.path)/build'")
        let lines = try Surroundings.run(
            "cat \"$ODD\"/share/thumbnailers/* \"$ODD\"/share/applications/*.desktop"
                + " \"$ODD\"/systemd/user/*"
        ).output
        let (tried, desktop, unit) = (
            "\(folder.path)/a %f $HOME \\\\d\"q'`x%%/bin/shapeedit",
            "\(folder.path)/a %%f \\\\$HOME \\\\\\\\d\\\\\"q'\\\\`x%%%%/bin/shapeedit",
            "\(folder.path)/a %%f $$HOME \\\\d\\\"q'`x%%%%/bin/shapeedit"
        )
        for line in [
            "TryExec=\(tried)", "TryExec=\(tried)-thumbnailer",
            "Exec=env \"\(desktop)\" edit %f", "Exec=env \"\(desktop)-thumbnailer\" %i %o %s",
            "ExecStart=env \"\(unit)\" mount --foreground -o ${OPTIONS} %I ${DIRECTORY}",
            "ExecStop=env \"\(unit)\" unmount ${DIRECTORY}",
        ] {
            #expect(lines.contains("\n\(line)\n"), "\(line) is not in \(lines)")
        }
        if Surroundings.isInstalled("gio") {
            let (_, output) = try Surroundings.run(
                """
                cd "$ODD" && printf '#!/bin/sh\\necho "$@" >"${0%%/*}/told"\\n' >bin/shapeedit \
                && sed 's/^Terminal=true/Terminal=false/' share/applications/*.desktop >a.desktop \
                && gio launch a.desktop a.shape && for turn in $(seq 300); do
                cat bin/told told 2>/dev/null | grep edit && break; sleep 0.1; done
                rm -f a.desktop told bin/told
                """)
            #expect(output.contains("edit "), "\(output)")
        }
        if Surroundings.isInstalled("systemd-analyze") {
            let (code, output) = try Surroundings.run(
                """
                cd "$ODD" && mkdir ../unit && cp systemd/user/* ../unit/shapeedit@default.service \
                && XDG_RUNTIME_DIR="$PWD" systemd-analyze verify --man=no --user \
                ../unit/shapeedit@default.service; code=$?; rm -rf ../unit systemd/transient; exit $code
                """)
            #expect(code == 0, "\(output)")
        }
        try script("uninstall", "--user --prefix \"$ODD\"")
        #expect(try Surroundings.run("ls -A \"$ODD\"").output == "")
    }

    @Test func `a folder with a line's end in its name is refused`() throws {
        let (code, output) = try Surroundings.run(
            "'\(Surroundings.package)/Scripts/install' --prefix \"$(printf '\(prefix)\\nx')\""
                + " --build '\(folder.path)/build' 2>&1")
        #expect(code == 1)
        #expect(output.contains("control character"), "\(output)")
        #expect(try files().isEmpty)
    }

    @Test func `a folder to stage in is where it is called from`() throws {
        for script in ["install --system --build build", "uninstall --system"] {
            let (code, output) = try Surroundings.run(
                "cd '\(folder.path)' && DESTDIR=stage '\(Surroundings.package)/Scripts/'\(script)")
            #expect(code == 0, "\(output)")
            let helper = access(folder.path + "/stage/sbin/mount.shapeedit", X_OK)
            #expect((helper == 0) == script.hasPrefix("install"), "\(script): \(output)")
        }
    }

    @Test func `what is installed can be read by others, whatever the umask`() throws {
        let (code, output) = try Surroundings.run(
            """
            umask 077; HOME='\(folder.path)/home' '\(Surroundings.package)/Scripts/install' \
            --system --prefix '\(prefix)' --build '\(folder.path)/build'
            """)
        #expect(code == 0, "\(output)")
        let hidden = try Surroundings.run("find '\(prefix)' ! -perm -444").output
        #expect(hidden.isEmpty, "\(hidden)")
    }

    @Test func `what belongs to others stays`() throws {
        let other = "\(prefix)/share/applications"
        _ = try Surroundings.run("mkdir -p '\(other)' && touch '\(other)/other.desktop'")
        try script("install", "--user --prefix '\(prefix)' --build '\(folder.path)/build'")
        try script("uninstall", "--user --prefix '\(prefix)'")
        #expect(try files().last == "./prefix/share/applications/other.desktop")
    }

    /// In a folder whose name a shell would take for a pattern; the desktop looks below it, too.
    @Test(arguments: ["other.desktop", "more/other.desktop"])
    func `the list of other applications stays`(_ other: String) throws {
        let prefix = folder.path + "/pre[f]ix"
        let applications = prefix + "/share/applications"
        _ = try Surroundings.run(
            "mkdir -p '\(applications)/more'; cd '\(applications)' && touch '\(other)' mimeinfo.cache"
        )
        try script("install", "--user --prefix '\(prefix)' --build '\(folder.path)/build'")
        try script("uninstall", "--user --prefix '\(prefix)'")
        #expect(try files().contains("./pre[f]ix/share/applications/mimeinfo.cache"))
    }

    @Test(
        .enabled(
            if: ["gio", "update-mime-database", "update-desktop-database"].allSatisfy(
                Surroundings.isInstalled),
            "gio, update-mime-database or update-desktop-database is not installed"))
    func `the desktop knows the types, the editor and the thumbnailer`() throws {
        try script("install", "--user --prefix '\(prefix)' --build '\(folder.path)/build'")
        let data = "XDG_DATA_HOME='\(prefix)/share' XDG_CONFIG_HOME='\(prefix)/config'"
        for (name, type) in [
            ("three.shape", "shape+json"), ("torus.shapeFile", "shapefile"),
            ("eight.slide", "slide+json"), ("groceries.list", "list"), ("empty.list", "list"),
        ] {
            let path = "\(Surroundings.package)/Tests/DocumentsTests/Corpus/\(name)"
            let info = try Surroundings.run(
                "\(data) gio info -a standard::content-type,standard::icon '\(path)'"
            ).output
            let full = "application/vnd.shapeedit.\(type)"
            #expect(info.contains("standard::content-type: \(full)\n"), "\(info)")
            #expect(info.contains("application-vnd.shapeedit.\(type)"), "\(info)")
            let foreign = try Surroundings.run("\(data) gio mime '\(full)'").output
            #expect(foreign.contains("shapeedit.desktop"), "\(foreign)")
        }
        // The entry as a file manager runs it, from anywhere.
        let sample = "\(Surroundings.package)/Tests/DocumentsTests/Corpus/three.shape"
        let line = try Surroundings.run(
            "sed -n 's/^Exec=//p' '\(prefix)/share/thumbnailers/shapeedit.thumbnailer'"
        ).output
        let command = line.split(separator: "\n")[0].split(separator: " ").map {
            ["%i": "'\(sample)'", "%o": "'\(folder.path)/out.png'", "%s": "128"][$0] ?? String($0)
        }
        #expect(try Surroundings.run(command.joined(separator: " ")).code == 0)
        #expect(PNGFile(try Surroundings.contents(folder.path + "/out.png"))?.height == 128)
    }

    @Test func `the list names every file of the desktop package, the manual and the schemas`()
        throws
    {
        let list = try Surroundings.run("cat '\(Surroundings.package)/Mount/installed-files'")
            .output
        let present = try Surroundings.run(
            "cd '\(Surroundings.package)' && find Mount/desktop Mount/man Mount/schemas"
                + " Sources/Documents/Schemas -type f"
        ).output
        for file in present.split(separator: "\n") {
            #expect(list.contains(" \(file) "), "\(file)")
        }
    }
}
