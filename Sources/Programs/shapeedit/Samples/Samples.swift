import Coordination
import Documents
import FileSystem
import Model
import PathText
import SystemCalls

/// The documents a new default container begins with: a few of each kind.
enum Samples {
    private static var documents: [(folder: String, name: String, bytes: [UInt8])] {
        [
            ("", "Welcome.md", Array(TextSamples.welcome.utf8)),
            ("Shapes", "Snowman.shape", Array(TextSamples.snowman.utf8)),
            ("Shapes", "Table.shape", Array(TextSamples.table.utf8)),
            ("Shapes", "Ring.shapeFile", bytes(BinarySamples.ring)),
            ("Shapes", "Tent.shapeFile", bytes(BinarySamples.tent)),
            ("Slides", "House.slide", Array(TextSamples.house.utf8)),
            ("Slides", "Three steps.slide", Array(TextSamples.steps.utf8)),
            ("Lists", "Groceries.list", bytes(BinarySamples.groceries)),
            ("Lists", "Packing.list", bytes(BinarySamples.packing)),
        ]
    }

    /// Puts in those that are not there yet, as an earlier beginning was cut off. A container without samples
    /// is still a container: what keeps one out is told, not fatal.
    static func fill(_ volume: Volume, of container: Container) {
        for (folder, name, bytes) in documents {
            do throws(Errno) {
                try volume.add(name, in: folder, bytes)
            } catch {
                Console.complain("the sample \(name) could not be made: \(error)")
            }
        }
        do throws(Failure) { try container.noteSamples() } catch {
            Console.complain("the samples will be looked for again: \(error)")
        }
    }

    private static func bytes(_ text: String) -> [UInt8] { Base64.decode(text.utf8) ?? [] }
}
