import Glibc
import Probing
import TestSupport
import Testing

/// A catalog that was changed by other means than ShapeEdit, in which nothing contradicts the rest.
@Suite(.oneAtATime) struct ChangedCatalogTests {
    @Test func `whatever byte of the catalog is another one, check finds it`() throws {
        try withBrokenContainer(others: 20) { broken in
            try broken.damage("cp catalog.sqlite ../good")
            let size = try run(["stat", "-c", "%s", "\(broken.folder)/catalog.sqlite"]).text
            let count = try #require(Int(size.dropLast()))
            for step in 0..<20 {
                let place = count / 20 * step + 2_345
                try broken.damage(
                    "cp ../good catalog.sqlite; "
                        + "byte=$(od -An -tu1 -j\(place) -N1 catalog.sqlite); "
                        + "printf \"\\\\$(printf %o $((255 - byte)))\" | "
                        + "dd of=catalog.sqlite bs=1 seek=\(place) conv=notrunc status=none")
                let check = try broken.container.check()
                #expect(check.status != 0, "byte \(place): \(check)")
                #expect(
                    (check.text + check.errorText).contains("catalog"), "byte \(place): \(check)")
            }
            try broken.damage("cp ../good catalog.sqlite")
            #expect(try broken.container.check().status == 0)
        }
    }

    @Test func `what somebody changed in the catalog is told until the container is mounted`()
        throws
    {
        try withBrokenContainer { broken in
            let change = try broken.catalog("update item set modified = modified - 5000000000")
            try #require(change.status == 0, "\(change)")
            for _ in 0..<2 {
                let check = try broken.container.check()
                #expect(check.status == Int(EX_DATAERR), "\(check)")
                #expect((check.text + check.errorText).contains("other bytes"), "\(check)")
            }
            try broken.whileMounted { agent in agent.store("new", "content") }
            let check = try broken.container.check()
            #expect(check.status == 0, "\(check)")
        }
    }

    @Test func `what somebody changed in the catalog is told whatever else is found`() throws {
        try withBrokenContainer { broken in
            let change = try broken.catalog("update item set modified = modified - 5000000000")
            try #require(change.status == 0, "\(change)")
            // What is left alone, and what is put right.
            try broken.damage("echo x > foreign; echo x > texts.sqlite")
            for _ in 0..<2 {
                let check = try broken.container.check()
                #expect(check.status == Int(EX_DATAERR), "\(check)")
                let told = check.text + check.errorText
                #expect(told.contains("other bytes") && told.contains("foreign"), "\(told)")
            }
            try broken.damage("rm foreign")
            let check = try broken.container.check()
            #expect((check.text + check.errorText).contains("other bytes"), "\(check)")
        }
    }

    @Test func `a check that has put something right leaves no catalog that is taken for changed`()
        throws
    {
        try withBrokenContainer { broken in
            try broken.damage("echo x > texts.sqlite")
            for status in [1, 0] { #expect(try broken.container.check().status == status) }
        }
    }

    @Test func `a crash leaves no catalog that is taken for changed`() throws {
        try withBrokenContainer { broken in
            try broken.crash { agent in agent.store("new", "content") }
            #expect(try broken.container.check().status == 0)
            try broken.whileMounted { agent in #expect(agent.content("new") == "content") }
            #expect(try broken.container.check().status == 0)
        }
    }
}
