import Probing
import TestSupport
import Testing

/// Whoever is told of another name finds it so.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct VisibleChangeTests {
    @Test(arguments: DataPath.mounts, ["events", "presenter"])
    func `who looks for what was told finds it`(_ dataPath: DataPath, _ way: String) throws {
        try withVolume(dataPath) { volume in
            let script = #filePath.replacing("VisibleChangeTests.swift", with: "visible.py")
            let result = try volume.run(
                "sh", "-ec", "cd '\(volume.directory)'; exec python3 \"$@\"", "sh", script,
                way, volume.root.text, "300")
            #expect(result.status == 0 && result.text == "0\n", "\(result)")
        }
    }
}
