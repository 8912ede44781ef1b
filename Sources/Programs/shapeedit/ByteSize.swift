import ArgumentParser

/// A number of bytes as people write it on a command line.
struct ByteSize: ExpressibleByArgument {
    let bytes: Int64

    /// Reads a whole number, perhaps with a unit in any case of letters: `k`, `M`, `G`, `T`, also as in
    /// `KiB`, are powers of 1024, and as in `kB` of 1000. `nil` for all else, and for more than an
    /// `Int64` holds.
    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits),
            let factor = Self.factor(argument[digits.endIndex...].lowercased())
        else { return nil }
        let (product, overflows) = number.multipliedReportingOverflow(by: factor)
        if overflows { return nil }
        bytes = product
    }

    /// - Parameter unit: in lower case.
    private static func factor(_ unit: String) -> Int64? {
        if unit.isEmpty || unit == "b" { return 1 }
        guard let letter = unit.first, let place = Array("kmgt").firstIndex(of: letter) else {
            return nil
        }
        let base: Int64
        switch unit.dropFirst() {
        case "", "ib": base = 1024
        case "b": base = 1000
        default: return nil
        }
        return (0..<place).reduce(base) { factor, _ in factor * base }
    }
}
