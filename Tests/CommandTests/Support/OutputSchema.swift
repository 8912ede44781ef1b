import FoundationEssentials
import Testing

/// The JSON Schema of what the program prints with `--json`, as it is in the project.
enum OutputSchema {
    /// The package's folder.
    static var packageRoot: String {
        // This file is Tests/CommandTests/Support/OutputSchema.swift.
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
            .joined(separator: "/")
    }

    static func load() throws -> JSONValue {
        let path = packageRoot + "/Mount/schemas/shapeedit-output.schema.json"
        return try .read(Array(try Data(contentsOf: URL(filePath: path))))
    }

    /// The command of a command line: its longest name that the schema has.
    static func command(of words: [String], in schema: JSONValue) -> String? {
        let commands = schema["properties"]?.members ?? [:]
        let names = words.filter { !$0.hasPrefix("-") }
        return (1...max(1, min(2, names.count))).reversed().lazy
            .map { names.prefix($0).joined(separator: " ") }.first { commands[$0] != nil }
    }

    /// What is not as the schema says about the output of a command line.
    static func faults(of output: [UInt8], printedBy words: [String]) throws -> [String] {
        let schema = try load()
        guard let value = try? JSONValue.read(output) else { return ["not JSON"] }
        guard let command = command(of: words, in: schema),
            let rule = schema["properties"]?[command]
        else { return ["the schema has no such command"] }
        return SchemaValidator(root: schema).faults(of: value, by: rule)
    }
}

/// Checks JSON against the part of JSON Schema that the project's schemas use; a keyword that it
/// does not know is a fault of the schema.
struct SchemaValidator {
    let root: JSONValue

    private static let annotations: Set = ["description", "title"]

    func faults(of value: JSONValue, by rule: JSONValue, at place: String = "$") -> [String] {
        rule.members.flatMap { keyword, operand -> [String] in
            switch keyword {
            case "$ref":
                let parts = (operand.text ?? "").split(separator: "/").dropFirst()
                let target = parts.reduce(JSONValue?.some(root)) { $0?[String($1)] }
                guard let target else { return ["\(place): nothing at \(operand)"] }
                return faults(of: value, by: target, at: place)
            case "type":
                let names = operand.elements.isEmpty ? [operand] : operand.elements
                let isRight = names.contains { Self.isOf(value, $0.text) }
                return isRight ? [] : ["\(place): not of type \(operand)"]
            case "enum":
                return operand.elements.contains(value) ? [] : ["\(place): none of \(operand)"]
            case "oneOf":
                let count = operand.elements.count { faults(of: value, by: $0, at: place).isEmpty }
                return count == 1 ? [] : ["\(place): fits \(count) of the forms"]
            case "required":
                return operand.elements.filter { value[$0.text ?? ""] == nil }.map {
                    "\(place): no \($0)"
                }
            case "properties":
                return value.members.flatMap { name, member in
                    operand[name].map { faults(of: member, by: $0, at: "\(place).\(name)") } ?? []
                }
            case "additionalProperties":
                let others = value.members.filter { rule["properties"]?[$0.key] == nil }
                if operand == .boolean(false) { return others.keys.map { "\(place): also \($0)" } }
                return others.flatMap { faults(of: $1, by: operand, at: "\(place).\($0)") }
            case "items":
                return value.elements.enumerated().flatMap {
                    faults(of: $1, by: operand, at: "\(place)[\($0)]")
                }
            default:
                return Self.annotations.contains(keyword) ? [] : ["the schema says \(keyword)"]
            }
        }
    }

    private static func isOf(_ value: JSONValue, _ type: String?) -> Bool {
        switch (value, type) {
        case (.null, "null"), (.boolean, "boolean"), (.string, "string"), (.array, "array"),
            (.object, "object"), (.number, "number"):
            true
        case (.number(let number), "integer"): number.rounded() == number
        default: false
        }
    }
}
