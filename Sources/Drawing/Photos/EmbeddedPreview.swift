/// The small picture that cameras put at the beginning of a JPEG file, after EXIF 2.3, section 4.5: an
/// APP1 segment with a TIFF structure, whose second directory tells where a JPEG file is in it.
///
/// For processes that can be lost: what is read here is foreign. No pixel is decoded.
package enum EmbeddedPreview {
    /// Bytes of a photo that are looked at first: mostly both directories are in them.
    private static let headerBytes = 4 << 10
    /// Bytes that are looked at where the first ones lead: enough for a directory.
    static let stepBytes = 1 << 10

    private static let startOfImage: [UInt8] = [0xFF, 0xD8]
    private static let endOfImage: [UInt8] = [0xFF, 0xD9]
    private static let signature = Array("Exif\0\0".utf8)

    /// What is found: a JPEG file that is to be turned as the photo is, and width and height of the photo
    /// when it is turned so, or 0 where that is not known.
    package struct Found {
        package var bytes: [UInt8]
        package var width: Int
        package var height: Int
    }

    /// The preview; nil if there is none. Throws
    /// which part of the photo has to be known to go on: first of where it begins, of where that leads,
    /// and in the end what is still missing of the preview, which is less than 64 KiB.
    package static func find(in photo: PhotoParts) throws(PhotoParts.Missing) -> Found? {
        guard let segment = try exifSegment(of: photo),
            let structure = try TIFFStructure(photo, segment),
            let main = try structure.firstDirectory(),
            let next = try structure.directory(after: main),
            let offset = try structure.value(of: .previewOffset, in: next),
            let count = try structure.value(of: .previewBytes, in: next),
            let preview = try structure.bytes(offset, count), isWhole(preview)
        else { return nil }
        let orientation = try structure.value(of: .orientation, in: main) ?? 1
        let sides = sides(in: structure, main) ?? (0, 0)
        let isTurned = (5...8).contains(orientation)
        return Found(
            bytes: startOfImage + segmentTelling(orientation: orientation)
                + preview.dropFirst(startOfImage.count),
            width: isTurned ? sides.height : sides.width,
            height: isTurned ? sides.width : sides.height)
    }

    /// Whether a JPEG file has its end: of one that was cut off, as by programs that count too few bytes, the
    /// rest would be grey. The end of a preview within the preview is none.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: startOfImage) else { return false }
        var place = startOfImage.count
        while place + 4 <= bytes.count, bytes[place] == 0xFF {
            switch bytes[place + 1] {
            case 0xFF: place += 1
            // Pixels: whatever they are, no other marker looks like this one in them.
            case 0xDA: return bytes[place...].contains(endOfImage)
            default: place += 2 + (Int(bytes[place + 2]) << 8 | Int(bytes[place + 3]))
            }
        }
        return false
    }

    /// Width and height of the photo, if they are in what is known: nothing is read for them.
    private static func sides(
        in structure: TIFFStructure, _ main: TIFFStructure.Directory
    ) -> (width: Int, height: Int)? {
        do throws(PhotoParts.Missing) {
            guard let place = try structure.value(of: .camera, in: main),
                let camera = try structure.directory(at: place),
                let width = try structure.value(of: .width, in: camera),
                let height = try structure.value(of: .height, in: camera)
            else { return nil }
            return (width, height)
        } catch { return nil }
    }

    /// Where the segment with the photo's facts has them, after its signature.
    private static func exifSegment(of photo: PhotoParts) throws(PhotoParts.Missing) -> Range<Int>?
    {
        var place = startOfImage.count
        guard try photo.bytes(0..<place, ahead: headerBytes) == startOfImage else { return nil }
        while let head = try photo.bytes(place..<place + 4, ahead: stepBytes), head[0] == 0xFF {
            let marker = head[1]
            // Bytes that fill, and the beginning of the pixels.
            if marker == 0xFF {
                place += 1
                continue
            }
            if marker == 0xDA || marker == 0xD9 { return nil }
            let count = Int(head[2]) << 8 | Int(head[3])
            guard count >= 2 else { return nil }
            let content = place + 4 + signature.count
            place += 2 + count
            if marker == 0xE1, content <= place,
                try photo.bytes(content - signature.count..<content, ahead: stepBytes) == signature
            {
                return content..<place
            }
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
