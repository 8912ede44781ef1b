extension S3Store {
    private func key(_ companion: Companion) -> String { prefix + companion.path }

    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    {
        var request = S3Request(method: "PUT", key: key(companion))
        request.setBody(bytes)
        request.headers.append(("content-type", "application/octet-stream"))
        let answer = try transport.send(request, call)
        guard answer.head.status == 200 else {
            throw error(answer, "putting \(companion.fileName)")
        }
        call.progress?(Int64(bytes.count))
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        var request = S3Request(method: "GET", key: key(companion))
        request.bodyLimit = Companion.limit
        let answer = try transport.send(request, call)
        switch answer.head.status {
        case 200 where answer.isCut:
            throw StoreError(
                .corrupt, at: address, "\(companion.fileName) is larger than anything put there")
        case 200: return answer.body
        case 404 where S3Problem(answer)?.code != "NoSuchBucket": return nil
        default: throw error(answer, "getting \(companion.fileName)")
        }
    }
}
