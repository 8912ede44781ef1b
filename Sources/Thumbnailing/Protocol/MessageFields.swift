/// Messages to helper processes that consist of fields with a NUL behind each, which no path has.
package enum MessageFields {
    package static func message(_ fields: [[UInt8]]) -> [UInt8] { fields.flatMap { $0 + [0] } }

    /// The fields of a message; what follows the last NUL is none.
    package static func of(_ message: [UInt8]) -> [[UInt8]] {
        message.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
    }
}
