//! Vectors of any number of dimensions in 8 bits a dimension, and their dot product with a query.
//!
//! A packed vector is an f32 scale and one int8 a dimension. A query is int16 within ±2047, so that products are exact
//! integers whatever the order of summation: the same result on every processor, only faster on some. The error against
//! the product of the floats is below 0.004 for unit vectors (`packed_products_are_close`).

/// Bytes before the values.
const SCALE_BYTES: usize = 4;
/// The largest value of a packed vector.
const PEAK: f32 = 127.0;
/// The largest value of a packed query: 12 bits, so that the sum of 65,536 products fits into 64 bits with ease and that
/// of 8,192 into 31.
const QUERY_PEAK: f32 = 2047.0;
/// Dimensions that are summed in 32 bits before they are added to a longer sum.
const BLOCK: usize = 4096;

/// Packs a vector; one of zeros stays so.
#[must_use]
pub fn pack(vector: &[f32]) -> Vec<u8> {
    let peak = vector.iter().fold(0f32, |max, x| max.max(x.abs()));
    let scale = peak / PEAK;
    let mut packed = Vec::with_capacity(SCALE_BYTES + vector.len());
    packed.extend_from_slice(&scale.to_le_bytes());
    let value = |x: &f32| if scale > 0.0 { (x / scale).round() as i8 } else { 0 };
    packed.extend(vector.iter().map(value).map(|value| value as u8));
    packed
}

/// The scale and the values of a packed vector of `dimensions` dimensions; `None` if it is not one.
#[must_use]
pub fn unpack(packed: &[u8], dimensions: usize) -> Option<(f32, &[u8])> {
    let (scale, values) = packed.split_first_chunk::<SCALE_BYTES>()?;
    let scale = f32::from_le_bytes(*scale);
    (values.len() == dimensions && scale.is_finite()).then_some((scale, values))
}

/// A query, ready for [`DenseQuery::dot`].
#[derive(Clone, Debug)]
pub struct DenseQuery {
    values: Vec<i16>,
    scale: f32,
}

impl DenseQuery {
    /// Packs a query; it need not have unit length.
    #[must_use]
    pub fn new(vector: &[f32]) -> Self {
        let peak = vector.iter().fold(0f32, |max, x| max.max(x.abs()));
        let scale = if peak > 0.0 { peak / QUERY_PEAK } else { 1.0 };
        Self { values: vector.iter().map(|x| (x / scale).round() as i16).collect(), scale }
    }

    /// The product with the vector of these values and this scale; both have the dimensions of the query.
    #[must_use]
    pub fn dot(&self, (scale, values): (f32, &[i8])) -> f32 {
        debug_assert_eq!(values.len(), self.values.len());
        let mut sum = 0i64;
        for (query, values) in self.values.chunks(BLOCK).zip(values.chunks(BLOCK)) {
            sum += i64::from(sum_of_products(query, values));
        }
        sum as f32 * self.scale * scale
    }
}

fn sum_of_products(query: &[i16], values: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { sum_of_products_avx2(query, values) };
    }
    sum_of_products_portable(query, values)
}

/// The compiler makes the processor's multiply-and-add of this; by itself it must not assume that there is one.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_of_products_avx2(query: &[i16], values: &[i8]) -> i32 {
    sum_of_products_portable(query, values)
}

#[inline(always)]
fn sum_of_products_portable(query: &[i16], values: &[i8]) -> i32 {
    query.iter().zip(values).map(|(&q, &v)| i32::from(q) * i32::from(v)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(mut vector: Vec<f32>) -> Vec<f32> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
        vector.iter_mut().for_each(|x| *x /= length);
        vector
    }

    fn signed(values: &[u8]) -> Vec<i8> {
        values.iter().map(|&value| value as i8).collect()
    }

    proptest! {
        #[test]
        fn packed_products_are_close(
            pair in proptest::collection::vec((-1f32..1.0, -1f32..1.0), 1..600),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pair.into_iter().unzip();
            let (a, b) = (unit(a), unit(b));
            let exact: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            let packed = pack(&b);
            let (scale, values) = unpack(&packed, b.len()).unwrap();
            let product = DenseQuery::new(&a).dot((scale, &signed(values)));
            prop_assert!((exact - product).abs() < 0.004, "{exact} {product}");
        }
    }

    #[test]
    fn extremes_do_not_overflow_and_foreign_bytes_are_none() {
        let long = vec![1.0f32; 65_536];
        let packed = pack(&long);
        let (scale, values) = unpack(&packed, long.len()).unwrap();
        let product = DenseQuery::new(&long).dot((scale, &signed(values)));
        assert!((product - 65_536.0).abs() < 64.0, "{product}");
        assert!(unpack(&pack(&[0.0; 3]), 3).is_some_and(|(_, values)| values == [0, 0, 0]));
        assert_eq!(unpack(&[1, 2, 3], 3), None);
        assert_eq!(unpack(&pack(&[1.0; 3]), 4), None);
    }
}
