extension WebDAVStore {
    private func url(_ companion: Companion) -> String {
        transport.url("\(path)/\(companion.path)")
    }

    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    {
        let temporary = transport.url("\(path)/incoming/\(companion.fileName).\(nextSerial())")
        var request = HTTPRequest("PUT", temporary)
        request.headers = [("Content-Type", "application/octet-stream")]
        request.body = .bytes(bytes)
        let answer = try transport.send(request, call)
        guard [200, 201, 204].contains(answer.head.status) else {
            if [404, 409].contains(answer.head.status) { try requireStore(call) }
            throw transport.answers.error(answer, "putting \(companion.fileName)")
        }
        try name(temporary, companion, call)
        call.progress?(Int64(bytes.count))
    }

    /// Moves what was uploaded to its place, for which the folders may be missing.
    private func name(_ temporary: String, _ companion: Companion, _ call: StoreCall)
        throws(StoreError)
    {
        var request = HTTPRequest("MOVE", temporary)
        request.headers = [("Destination", url(companion)), ("Overwrite", "T")]
        for isLast in [false, true] {
            let answer = try sendUntilUnlocked(request, call)
            if [200, 201, 204].contains(answer.head.status) { return }
            guard !isLast, Self.saysFolderIsMissing(answer.head.status) else {
                _ = try transport.send(HTTPRequest("DELETE", temporary), call)
                throw transport.answers.error(answer, "naming \(companion.fileName)")
            }
            for folder in [Companion.folder, "\(Companion.folder)/\(companion.hash.fanOut)"] {
                _ = try makeCollection("\(path)/\(folder)", call)
            }
        }
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        var request = HTTPRequest("GET", url(companion))
        request.bodyLimit = Companion.limit
        let answer = try transport.send(request, call)
        switch answer.head.status {
        case 200: return try companion.bytes(of: answer, at: address)
        case 404, 410:
            try requireStore(call)
            return nil
        default: throw transport.answers.error(answer, "getting \(companion.fileName)")
        }
    }
}
