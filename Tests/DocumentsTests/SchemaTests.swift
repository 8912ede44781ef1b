import DocumentFuzzing
import Documents
import Testing

/// The schema of `.shape` documents and the reader say the same.
@Suite struct SchemaTests {
    private func schema() throws -> SchemaValidator {
        let path = "\(Samples.project)/Sources/Documents/Schemas/shape.schema.json"
        return SchemaValidator(try JSONValue.read(try #require(FileBytes.read(path))))
    }

    @Test func `they agree on generated documents`() throws {
        let schema = try schema()
        var generator = DocumentGenerator(SeededGenerator(seed: 41))
        for _ in 0..<500 {
            let scene = generator.scene().json
            #expect(try schema.accepts(scene))
            #expect(throws: Never.self) { try Scene(scene) }
        }
        #expect(try schema.accepts(JSONValue.read(try Samples.read("three.shape"))))
    }

    @Test func `they agree on documents with a value replaced or removed`() throws {
        let schema = try schema()
        var generator = DocumentGenerator(SeededGenerator(seed: 42))
        var accepted = 0
        let rounds = 10_000
        for _ in 0..<rounds {
            var json = generator.scene().json
            replace(&json, with: &generator)
            let isRead = (try? Scene(json)) != nil
            accepted += isRead ? 1 : 0
            let text = String(decoding: json.text(), as: UTF8.self)
            #expect(try schema.accepts(json) == isRead, "\(text)")
        }
        // Both answers must be there for this to mean anything.
        #expect(accepted > rounds / 10)
        #expect(accepted < rounds * 9 / 10)
    }

    /// Replaces a random value somewhere below, or removes a random key.
    private func replace(_ value: inout JSONValue, with generator: inout DocumentGenerator) {
        let keys = [
            "radius", "opacity", "color", "scale", "position", "rotation", "target", "name",
            "visible", "children", "type", "fieldOfView", "version", "background", "camera",
        ]
        switch value {
        case .object(var object) where !object.isEmpty && generator.random.chance(90):
            let key = generator.random.one(of: generator.random.chance(30) ? keys : object.keys)
            var inner = object[key] ?? .null
            if generator.random.chance(15) {
                object[key] = nil
            } else {
                replace(&inner, with: &generator)
                object[key] = inner
            }
            value = .object(object)
        case .array(var elements) where !elements.isEmpty && generator.random.chance(80):
            let index = generator.random.below(elements.count)
            replace(&elements[index], with: &generator)
            value = .array(elements)
        default:
            let values: [JSONValue] = [
                .null, .integer(0), .integer(-1), .integer(1), .number(0.5), .number(1e42),
                .string("#abc"), .string("#ABCDEF80"), .string("red"), .string("sphere"),
                .boolean(true), .array([]), .array([.integer(1), .integer(2), .integer(3)]),
                .array([.integer(0), .integer(1), .integer(0), .integer(9)]), .object([:]),
                .string(String(repeating: "n", count: 1_025)), .integer(179), .integer(180),
            ]
            value = generator.random.one(of: values)
        }
    }
}
