/// Sine, cosine and tangent by additions and multiplications only, so that every machine gets the
/// same bits: those of the C library differ between versions and processors.
///
/// Errors are below 1e-15 for angles within a few turns. Angles are in radians; one that is not
/// finite counts as 0.
enum Trigonometry {
    static let pi = 3.141592653589793
    static let radiansPerDegree = pi / 180

    static func tangent(_ angle: Double) -> Double {
        let (sine, cosine) = sineAndCosine(angle)
        return sine / cosine
    }

    static func sineAndCosine(_ angle: Double) -> (sine: Double, cosine: Double) {
        guard angle.isFinite else { return (0, 1) }
        // The remainder is exact, so only very large angles lose precision, and they alike
        // everywhere.
        let turn = angle.remainder(dividingBy: 2 * pi)
        let quadrant = (turn / (pi / 2)).rounded()
        let rest = (turn - quadrant * halfPiHigh) - quadrant * halfPiLow
        let (sine, cosine) = (sineOfEighth(rest), cosineOfEighth(rest))
        switch Int(quadrant) & 3 {
        case 0: return (sine, cosine)
        case 1: return (cosine, -sine)
        case 2: return (-sine, -cosine)
        default: return (-cosine, sine)
        }
    }

    /// A half of pi in two parts: the first has so few digits that small multiples are exact.
    private static let halfPiHigh = 1.57079632673412561417e+00
    private static let halfPiLow = 6.07710050650619224932e-11

    /// Taylor's series, enough of it for |x| <= pi / 4.
    private static func sineOfEighth(_ x: Double) -> Double {
        let s = x * x
        var sum = 1.0 / 355_687_428_096_000
        sum = -1.0 / 1_307_674_368_000 + s * sum
        sum = 1.0 / 6_227_020_800 + s * sum
        sum = -1.0 / 39_916_800 + s * sum
        sum = 1.0 / 362_880 + s * sum
        sum = -1.0 / 5040 + s * sum
        sum = 1.0 / 120 + s * sum
        sum = -1.0 / 6 + s * sum
        return x + x * s * sum
    }

    private static func cosineOfEighth(_ x: Double) -> Double {
        let s = x * x
        var sum = -1.0 / 6_402_373_705_728_000
        sum = 1.0 / 20_922_789_888_000 + s * sum
        sum = -1.0 / 87_178_291_200 + s * sum
        sum = 1.0 / 479_001_600 + s * sum
        sum = -1.0 / 3_628_800 + s * sum
        sum = 1.0 / 40_320 + s * sum
        sum = -1.0 / 720 + s * sum
        sum = 1.0 / 24 + s * sum
        return 1 - s / 2 + s * s * sum
    }
}
