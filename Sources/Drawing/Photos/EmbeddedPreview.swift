/// The small picture that cameras put at the beginning of a JPEG file, after EXIF 2.3, section 4.5: an
/// APP1 segment with a TIFF structure, whose second directory tells where a JPEG file is in it.
///
/// For processes that can be lost: what is read here is foreign. No pixel is decoded.
package enum EmbeddedPreview {
    private static let startOfImage: [UInt8] = [0xFF, 0xD8]
    private static let signature = Array("Exif\0\0".utf8)

    /// The preview as a JPEG file that is to be turned as the photo is; nil if there is none.
    ///
    /// - Parameter beginning: of the photo. A segment that is not all in it counts as missing.
    package static func find(in beginning: [UInt8]) -> [UInt8]? {
        guard let segment = exifSegment(of: beginning), let structure = TIFFStructure(segment),
            let photo = structure.firstDirectory, let next = structure.directory(after: photo),
            let offset = structure.value(of: .previewOffset, in: next),
            let count = structure.value(of: .previewBytes, in: next),
            let preview = structure.bytes(offset, count), preview.starts(with: startOfImage)
        else { return nil }
        let orientation = structure.value(of: .orientation, in: photo) ?? 1
        return startOfImage + segmentTelling(orientation: orientation)
            + preview.dropFirst(startOfImage.count)
    }

    /// What the segment with the photo's facts holds, after its signature.
    private static func exifSegment(of file: [UInt8]) -> ArraySlice<UInt8>? {
        guard file.starts(with: startOfImage) else { return nil }
        var place = startOfImage.count
        while place + 4 <= file.count, file[place] == 0xFF {
            let marker = file[place + 1]
            // Bytes that fill, and the beginning of the pixels.
            if marker == 0xFF {
                place += 1
                continue
            }
            if marker == 0xDA || marker == 0xD9 { return nil }
            let count = Int(file[place + 2]) << 8 | Int(file[place + 3])
            let end = place + 2 + count
            guard count >= 2, end <= file.count else { return nil }
            let content = file[(place + 4)..<end]
            if marker == 0xE1, content.starts(with: signature) {
                return content.dropFirst(signature.count)
            }
            place = end
        }
        return nil
    }

    /// An APP1 segment that says only how a picture is to be turned.
    private static func segmentTelling(orientation: Int) -> [UInt8] {
        let turned = (1...8).contains(orientation) ? UInt8(orientation) : 1
        let structure: [UInt8] =
            Array("MM".utf8) + [0, 42, 0, 0, 0, 8]
            + [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, turned, 0, 0] + [0, 0, 0, 0]
        let count = 2 + signature.count + structure.count
        return [0xFF, 0xE1, 0, UInt8(count)] + signature + structure
    }
}
