internal import Model

/// Uploads in parts that were begun and not finished: they are no objects, are not listed with them, and
/// are paid for like them.
extension S3Store {
    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {
        var after: (key: String, upload: String)?
        while true {
            let root = try uploads(prefix, after: after, call)
            let found = root.all("Upload").compactMap { upload -> (key: String, upload: String)? in
                guard let key = upload.text("Key"), let upload = upload.text("UploadId") else {
                    return nil
                }
                return (key, upload)
            }
            for (key, upload) in found {
                guard let hash = ContentHash(name: key.suffix(64)), key == self.key(hash),
                    try isAbandoned(Remnant(hash: hash, name: upload, isResumable: true))
                else { continue }
                var request = S3Request(method: "DELETE", key: key)
                request.query = [("uploadId", upload)]
                _ = try transport.send(request, call)
            }
            guard root.text("IsTruncated") == "true", let key = root.text("NextKeyMarker"),
                let upload = root.text("NextUploadIdMarker"),
                (after?.key ?? "").utf8.lexicographicallyPrecedes(key.utf8)
                    || after.map({ $0.key == key && $0.upload != upload }) ?? false
            else { return }
            after = (key, upload)
        }
    }

    /// A page of the uploads of keys that begin like this.
    ///
    /// - Parameter after: those that the page before ended with.
    func uploads(
        _ prefix: String, after: (key: String, upload: String)? = nil, _ call: StoreCall
    ) throws(StoreError) -> XMLElement {
        var request = S3Request(method: "GET")
        request.query = [("uploads", ""), ("prefix", prefix)]
        if let after {
            request.query += [("key-marker", after.key), ("upload-id-marker", after.upload)]
        }
        request.bodyLimit = 4 << 20
        let answer = try transport.send(request, call)
        guard answer.head.status == 200 else {
            throw error(answer, "looking for uploads of \(prefix)")
        }
        guard !answer.isCut, let root = XMLDocument.root(of: answer.body) else {
            throw StoreError(.corrupt, at: address, "the answer cannot be understood")
        }
        return root
    }
}
