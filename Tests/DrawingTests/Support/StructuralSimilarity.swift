/// SSIM (Wang, Bovik, Sheikh and Simoncelli, 2004) of two pictures in windows of 8 x 8 pixels.
struct StructuralSimilarity {
    private static let side = 8

    /// The mean over all windows, or over those all of whose pixels count.
    static func mean(
        _ one: [Double], _ other: [Double], width: Int, counting: [Bool]? = nil
    ) -> Double {
        let height = one.count / width
        let stride = width + 1
        /// Sums over all pixels above and left.
        func integral(_ value: (Int) -> Double) -> [Double] {
            var sums = [Double](repeating: 0, count: stride * (height + 1))
            for y in 0..<height {
                var row = 0.0
                for x in 0..<width {
                    row += value(y * width + x)
                    sums[(y + 1) * stride + x + 1] = sums[y * stride + x + 1] + row
                }
            }
            return sums
        }
        let sums = [
            integral { one[$0] }, integral { other[$0] }, integral { one[$0] * one[$0] },
            integral { other[$0] * other[$0] }, integral { one[$0] * other[$0] },
        ]
        let hidden = counting.map { counting in integral { counting[$0] ? 0 : 1 } }
        let count = Double(side * side)
        var (total, windows) = (0.0, 0.0)
        for y in 0...height - side {
            for x in 0...width - side {
                let corner = y * stride + x
                func sum(_ sums: [Double]) -> Double {
                    let below = corner + side * stride
                    return sums[below + side] - sums[below] - sums[corner + side] + sums[corner]
                }
                if let hidden, sum(hidden) > 0 { continue }
                let (a, b) = (sum(sums[0]) / count, sum(sums[1]) / count)
                let varianceA = max(0, sum(sums[2]) / count - a * a)
                let varianceB = max(0, sum(sums[3]) / count - b * b)
                let covariance = sum(sums[4]) / count - a * b
                let (c1, c2) = (0.01 * 255 * 0.01 * 255, 0.03 * 255 * 0.03 * 255)
                total +=
                    (2 * a * b + c1) * (2 * covariance + c2)
                    / ((a * a + b * b + c1) * (varianceA + varianceB + c2))
                windows += 1
            }
        }
        return windows == 0 ? 0 : total / windows
    }
}
