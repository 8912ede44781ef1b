import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct DirectoryAttributeTests {
    /// The kernel took an answer that was on its way to somebody else for how the directory is from then on.
    @Test(
        .enabled(if: sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1, "needs two processors"),
        arguments: DataPath.mounts)
    func `a directory has the links of the last change, whoever asks meanwhile`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            try volume.agent().makeDirectory("d")
            let reader = """
                while (!-e "stop") { stat "d"; opendir my $folder, "d"; my @names = readdir $folder }
                """
            let readers = try (0..<2).map { _ in
                try RunningProgram(
                    ["timeout", "300", "taskset", "-c", "1", "perl", "-e", reader].map {
                        Array($0.utf8)
                    },
                    directory: volume.directory)
            }
            defer {
                close(creat("\(volume.directory)/stop", 0o644))
                for program in readers { #expect(program.wait(seconds: 60).status == 0) }
            }
            // One in many thousands may be told late, where much else runs, and never stays wrong.
            let loop = """
                my (@failed, $late); \
                sub links { my $wanted = shift; return 1 if (stat "d")[3] == $wanted; \
                select undef, undef, undef, 0.1; return (stat "d")[3] == $wanted && !$late++ } \
                for (1 .. 4000) { \
                mkdir "d/x" or die $!; links(3) or push @failed, "made $_"; \
                rmdir "d/x" or die $!; links(2) or push @failed, "gone $_" }; \
                print scalar @failed, ": @failed[0 .. 3]" if @failed
                """
            let result = try volume.run("taskset", "-c", "0", "perl", "-e", loop)
            #expect(result.status == 0 && result.output.isEmpty, "\(result)")
        }
    }
}
