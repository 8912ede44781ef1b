import Documents
import Drawing
import Glibc

/// Measures the CPU time of pictures: `shapeedit-drawing-bench [--keep DIRECTORY] [JOB...]`.
///
/// Prints a line for each job: its name, the median of the CPU times in milliseconds, the budget
/// of the job where it has one, and the number of bytes made. Ends with the largest memory of the
/// process. With `--keep` the pictures are also written into an existing folder.
@main struct DrawingBench {
    static func main() throws {
        var names = Array(CommandLine.arguments.dropFirst())
        var folder: String?
        if names.first == "--keep", names.count >= 2 {
            folder = names[1]
            names.removeFirst(2)
        }
        let jobs = try Job.all()
        guard names.allSatisfy({ name in jobs.contains { $0.name == name } }) else {
            print("usage: shapeedit-drawing-bench [--keep DIRECTORY] [JOB...]")
            exit(EX_USAGE)
        }
        var isWithinBudgets = true
        for job in jobs where names.isEmpty || names.contains(job.name) {
            let result = try job.measure()
            print(result.line(of: job))
            isWithinBudgets = isWithinBudgets && result.milliseconds <= job.budget ?? .infinity
            if let folder { try write(result.bytes, to: "\(folder)/\(job.name).png") }
        }
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        print("largest memory  \(usage.ru_maxrss / 1024) MiB of 64")
        exit(isWithinBudgets && usage.ru_maxrss <= 64 << 10 ? EXIT_SUCCESS : EXIT_FAILURE)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "w") else { throw Failure.cannotWrite(path) }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw Failure.cannotWrite(path)
        }
    }

    private enum Failure: Error { case cannotWrite(String) }
}
