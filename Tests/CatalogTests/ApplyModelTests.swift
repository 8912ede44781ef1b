import Catalog
import Model
import Probing
import Testing

/// Batches of random mutations against applying them one by one and against a plain reference.
@Suite struct ApplyModelTests {
    @Test(arguments: 0..<8)
    func `a batch equals its mutations one by one`(round: Int) throws {
        let seed = UInt64.random(in: .min ... .max)
        print("apply model test, seed \(seed)")
        var random = SplitMix(seed: seed)
        let folder = try TemporaryFolder()
        let batched = try CatalogDatabase(path: folder.file("batched.db"), create: true)
        let single = try CatalogDatabase(path: folder.file("single.db"), create: true)
        var reference = ReferenceTables()
        var sequence: ChangeSequence = 0
        for _ in 0..<40 {
            let batch = (0..<random.below(12)).map { _ in
                sequence += 1
                return random.mutation(sequence)
            }
            try batched.apply(batch)
            for mutation in batch {
                try single.apply([mutation])
                reference.apply(mutation)
            }
            let expected = reference.tables
            try #require(try Tables(single) == expected, "seed \(seed)")
            try #require(try Tables(batched) == expected, "seed \(seed)")
        }
        #expect(try batched.changeLogGaps() == [])
        #expect(try batched.integrityErrors() == [])
    }
}
