import Glibc
import Testing

@testable import Drawing

/// Our own sine and cosine against the C library's.
@Suite struct TrigonometryTests {
    @Test func `sine, cosine and tangent are those of the C library`() {
        for step in -4000...4000 {
            let angle = Double(step) * 0.0037
            let (sine, cosine) = Trigonometry.sineAndCosine(angle)
            #expect(abs(sine - sin(angle)) < 2e-15)
            #expect(abs(cosine - cos(angle)) < 2e-15)
        }
        #expect(abs(Trigonometry.tangent(0.5235987755982988) - tan(0.5235987755982988)) < 1e-15)
    }

    @Test func `angles that are no numbers turn nothing`() {
        for angle in [Double.nan, .infinity, -.infinity] {
            #expect(Trigonometry.sineAndCosine(angle) == (0, 1))
        }
    }
}
