import DocumentKit
import Probing
import TestSupport
import Testing

/// Open documents whose file others write in the moment when it is loaded.
@Suite(.oneAtATime) struct LoadingRaceTests {
    @Test(arguments: places)
    func `what others write while it is loaded is loaded too`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            // While it is used in the hook nobody else uses it.
            nonisolated(unsafe) let agent = try volume.agent()
            agent.store("note", "one")
            let document = Document<HookedText>("\(volume.directory)/note", quietTime: nil)
            // By then it has been read.
            HookedText.onLoading { agent.store("note", "two") }
            try document.open()
            expectSoon("opening") { document.contents?.text == "two" }
            HookedText.onLoading { agent.store("note", "four") }
            agent.store("note", "three")
            expectSoon("looking") { document.contents?.text == "four" }
            try document.close()
        }
    }
}
