import DocumentFuzzing
import Glibc

// documents-fuzz COUNT SEED PROGRESS FOLDER...
//
// Feeds COUNT inputs to the readers of documents. The number of the input being read is kept in
// the file PROGRESS, for the case that it ends the process.
let arguments = CommandLine.arguments
guard arguments.count > 3, let count = Int(arguments[1]), count > 0, let seed = UInt64(arguments[2])
else {
    print("use: documents-fuzz COUNT SEED PROGRESS FOLDER...")
    exit(EX_USAGE)
}
let progress = open(arguments[3], O_WRONLY | O_CREAT | O_TRUNC, 0o600)
guard progress >= 0 else {
    print("documents-fuzz: cannot write \(arguments[3])")
    exit(EX_CANTCREAT)
}
var documents: [[UInt8]] = []
for folder in arguments.dropFirst(4) {
    for name in FileBytes.names(in: folder) where !name.hasSuffix(".png") {
        if let bytes = FileBytes.read("\(folder)/\(name)") { documents.append(bytes) }
    }
}
print("seed \(seed), \(documents.count) files, \(count) inputs")

let report = FuzzRun(seed: seed, documents: documents).run(0..<count) { number in
    var text = Array("\(number)\n".utf8)
    pwrite(progress, &text, text.count, 0)
}
let memory = FuzzRun.peakMemory
print(
    "\(report.inputs) inputs, \(report.accepted) accepted, slowest \(report.longest), "
        + "\(memory >> 20) MiB at most")
for failure in report.failures.prefix(20) { print(failure) }
if memory > FuzzRun.memory { print("more than \(FuzzRun.memory >> 20) MiB of memory") }
exit(report.failures.isEmpty && memory <= FuzzRun.memory ? EXIT_SUCCESS : EXIT_FAILURE)
