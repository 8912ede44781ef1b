package import Documents

/// A call as it comes over the socket.
package struct VarlinkCall: Sendable {
    /// The full name, `interface.Method`.
    package var method: String
    package var parameters: JSONObject
    /// The caller takes several replies.
    package var more = false
    /// The caller takes none.
    package var isOneWay = false

    package init(_ method: String, _ parameters: JSONObject = [:], more: Bool = false) {
        self.method = method
        self.parameters = parameters
        self.more = more
    }

    /// Reads a message; `nil` if it is no call.
    package init?(_ bytes: [UInt8]) {
        guard let object = (try? JSONValue.read(bytes))?.object,
            let method = object["method"]?.string
        else { return nil }
        self.method = method
        switch object["parameters"] {
        case nil, .null: parameters = [:]
        case .object(let members): parameters = members
        default: return nil
        }
        guard let oneWay = Self.flag(object["oneway"]), let more = Self.flag(object["more"]) else {
            return nil
        }
        isOneWay = oneWay
        // Who takes no reply takes no several ones.
        self.more = !oneWay && more
    }

    /// `nil` for what is neither true nor false: to go on without it would answer another call than the
    /// one that was meant.
    private static func flag(_ value: JSONValue?) -> Bool? {
        switch value {
        case nil, .null: false
        case .boolean(let isSet): isSet
        default: nil
        }
    }

    /// The message with its end.
    package var bytes: [UInt8] {
        var object: JSONObject = ["method": .string(method), "parameters": .object(parameters)]
        if more { object["more"] = .boolean(true) }
        if isOneWay { object["oneway"] = .boolean(true) }
        return JSONValue.object(object).line + [0]
    }
}

/// A reply as it goes over the socket.
package struct VarlinkReply: Sendable {
    package var parameters: JSONObject
    /// The full name of the error, if it is one.
    package var error: String?
    /// More replies to the same call follow.
    package var continues = false

    package init(_ parameters: JSONObject = [:], continues: Bool = false) {
        self.parameters = parameters
        self.continues = continues
    }

    package init(error: String, _ parameters: JSONObject = [:]) {
        self.error = error
        self.parameters = parameters
    }

    /// Reads a message; `nil` if it is no reply.
    package init?(_ bytes: [UInt8]) {
        guard let object = (try? JSONValue.read(bytes))?.object else { return nil }
        parameters = object["parameters"]?.object ?? [:]
        error = object["error"]?.string
        continues = object["continues"]?.boolean ?? false
    }

    /// The message with its end.
    package var bytes: [UInt8] {
        var object: JSONObject = [:]
        if let error { object["error"] = .string(error) }
        object["parameters"] = .object(parameters)
        if continues { object["continues"] = .boolean(true) }
        return JSONValue.object(object).line + [0]
    }
}

/// The errors that every Varlink service has.
package enum VarlinkError {
    private static let service = "org.varlink.service"

    package static func invalidParameter(_ name: String) -> VarlinkReply {
        VarlinkReply(error: "\(service).InvalidParameter", ["parameter": .string(name)])
    }
    static func interfaceNotFound(_ name: String) -> VarlinkReply {
        VarlinkReply(error: "\(service).InterfaceNotFound", ["interface": .string(name)])
    }
    package static func methodNotFound(_ name: String) -> VarlinkReply {
        VarlinkReply(error: "\(service).MethodNotFound", ["method": .string(name)])
    }
    /// The method has several replies, and the call does not take them.
    package static let expectedMore = VarlinkReply(error: "\(service).ExpectedMore")
}
