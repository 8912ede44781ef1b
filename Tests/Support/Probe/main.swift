// The test's hands in other processes. A test that asks what *another process* sees needs one,
// with its own credentials, descriptors, locks and memory; this program is that process.
import Glibc

// A closed pipe shall be an error to handle, not the end.
signal(SIGPIPE, SIG_IGN)

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "agent": runAgent(arguments.dropFirst())
case "guard": guardMounts(arguments.dropFirst())
case "torn-writer": runTornWriter(arguments.dropFirst())
case "torn-reader": runTornReader(arguments.dropFirst())
case "common-close": runCommonClose(arguments.dropFirst())
case "late-listing": runLateListing(arguments.dropFirst())
default:
    exit(EX_USAGE)
}
