internal import Model

/// What stands between the slashes, question marks and ampersands of an address.
struct AddressParts {
    let authority: Substring
    private let pathText: Substring
    let options: AddressOptions

    init(_ text: Substring) throws(Failure) {
        guard !text.contains("#") else {
            throw StoreAddress.problem("an address has no # (write %23 for one in a name)")
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw StoreAddress.problem("an address holds no control characters")
        }
        let question = text.firstIndex(of: "?") ?? text.endIndex
        let front = text[..<question]
        let slash = front.firstIndex(of: "/") ?? front.endIndex
        authority = front[..<slash]
        pathText = front[slash...]
        options = try AddressOptions(text[question...].dropFirst())
    }

    /// The decoded names between the slashes.
    func path() throws(Failure) -> [String] {
        var names: [String] = []
        for part in pathText.split(separator: "/") {
            guard let name = PercentEncoding.decode(part), name != ".", name != "..",
                name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f && $0 != 0x2f })
            else {
                throw StoreAddress.problem(
                    "the path holds a name that cannot be: \(String(part.prefix(80)))")
            }
            names.append(name)
        }
        return names
    }
}

/// The options after the question mark, each to be taken once.
struct AddressOptions {
    private var values: [String: String] = [:]

    init(_ text: Substring) throws(Failure) {
        for item in text.split(separator: "&") {
            let equals = item.firstIndex(of: "=") ?? item.endIndex
            let name = String(item[..<equals])
            guard equals < item.endIndex,
                let value = PercentEncoding.decode(item[item.index(after: equals)...]),
                !value.utf8.contains(0), !value.utf8.contains(0x0a)
            else { throw StoreAddress.problem("the option \(name) has no valid value") }
            guard values.updateValue(value, forKey: name) == nil else {
                throw StoreAddress.problem("the option \(name) is there twice")
            }
        }
    }

    mutating func take(_ name: String) -> String? { values.removeValue(forKey: name) }

    mutating func takeServerOptions() throws(Failure) -> ServerOptions {
        var options = ServerOptions()
        options.authoritiesFile = take("ca")
        if let command = take("credential-command") {
            let words = command.split(separator: " ").map(String.init)
            guard !words.isEmpty else {
                throw StoreAddress.problem("credential-command= names no program")
            }
            options.credentialCommand = words
        }
        return options
    }

    /// Throws if something was not understood, which could be a misspelt option.
    func finish() throws(Failure) {
        guard let name = values.keys.min() else { return }
        throw StoreAddress.problem("there is no option \(name) for this kind of store")
    }
}
