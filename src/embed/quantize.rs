//! Unit vectors in 4 bits a dimension, and their dot product with a query.
//!
//! A document vector is [`PACKED_BYTES`] bytes: an f32 scale, then 128 bytes of two values each, `(value + 8)` in
//! 0..=15. Byte `i` holds dimension `i` in its low half and dimension `i + 128` in its high half. A query is int8.
//! The product is an integer sum, so it is the same on every processor; only its speed differs.

use super::DIM;

/// Bytes of one packed document vector.
pub const PACKED_BYTES: usize = 4 + DIM / 2;

const HALF: usize = DIM / 2;
/// Values are clipped at this many times their root mean square before they are rounded: the error is least there
/// for values that are about normally distributed in 15 steps.
const CLIP_RMS: f32 = 2.7;
const MAX_STEP: f32 = 7.0;

/// A query vector, ready for [`PackedQuery::dot`].
pub struct PackedQuery {
    values: [i8; DIM],
    scale: f32,
    /// 8 times the sum of the values: what the documents' offset adds to each sum.
    offset: i32,
}

/// One bit a dimension: whether the value is not negative. Word `i` holds the dimensions from `64 * i`.
pub type Signs = [u64; DIM / 64];

/// The signs of a packed vector.
#[must_use]
pub fn signs(packed: &[u8; PACKED_BYTES]) -> Signs {
    let (_, nibbles) = split(packed);
    let mut signs = [0u64; DIM / 64];
    for (i, bytes) in nibbles.as_chunks::<8>().0.iter().enumerate() {
        let bytes = u64::from_le_bytes(*bytes);
        let (word, shift) = (i / 8, 8 * (i % 8));
        // Values are stored plus 8, so the fourth bit is the sign's.
        signs[word] |= low_bits(bytes >> 3) << shift;
        signs[word + HALF / 64] |= low_bits(bytes >> 7) << shift;
    }
    signs
}

/// The lowest bit of each byte: that of byte `i` becomes bit `i`. The product moves each to its place in the highest
/// byte, and nothing else there.
#[inline]
fn low_bits(bytes: u64) -> u64 {
    (bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The signs of a vector.
#[must_use]
pub fn signs_of(vector: &[f32; DIM]) -> Signs {
    let mut signs = [0u64; DIM / 64];
    for (i, &value) in vector.iter().enumerate() {
        signs[i / 64] |= u64::from(value >= 0.0) << (i % 64);
    }
    signs
}

/// Appends the number of different signs between `query` and each of `others` to `out`.
pub fn differences(query: &Signs, others: &[Signs], out: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor counts bits.
        unsafe { differences_popcnt(query, others, out) };
        return;
    }
    differences_portable(query, others, out);
}

/// The compiler uses the processor's bit count here; by itself it must not assume that there is one.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn differences_popcnt(query: &Signs, others: &[Signs], out: &mut Vec<u32>) {
    differences_portable(query, others, out);
}

#[inline(always)]
fn differences_portable(query: &Signs, others: &[Signs], out: &mut Vec<u32>) {
    let count = |other: &Signs| query.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
    out.extend(others.iter().map(|other: &Signs| -> u32 { count(other) }));
}

/// Packs a unit vector into `out`; what is unpacked has unit length too. The zero vector stays zero.
pub fn pack(vector: &[f32; DIM], out: &mut [u8; PACKED_BYTES]) {
    let rms = (sum_of_squares(vector) / DIM as f32).sqrt();
    let peak = vector.iter().fold(0f32, |max, x| if x.abs() > max { x.abs() } else { max });
    let width = (rms * CLIP_RMS).min(peak) / MAX_STEP;
    let per_width = if width > 0.0 { 1.0 / width } else { 0.0 };
    // Rounds to the nearest step and adds 8, in a form that the compiler can do for several values at once.
    let steps = vector.map(|x| ((x * per_width).clamp(-MAX_STEP, MAX_STEP) + 8.5) as i32);
    let n: i32 = steps.iter().map(|step| (step - 8) * (step - 8)).sum();
    let scale = if n > 0 { 1.0 / (n as f32).sqrt() } else { 0.0 };
    out[..4].copy_from_slice(&scale.to_le_bytes());
    for (byte, (&low, &high)) in out[4..].iter_mut().zip(steps[..HALF].iter().zip(&steps[HALF..])) {
        *byte = (low | (high << 4)) as u8;
    }
}

/// The square of a vector's length. Several sums side by side, because each waits for the one before.
pub fn sum_of_squares(vector: &[f32; DIM]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0f32; LANES];
    for lane in vector.as_chunks::<LANES>().0 {
        for (sum, x) in sums.iter_mut().zip(lane) {
            *sum += x * x;
        }
    }
    sums.iter().sum()
}

/// The vector that `packed` stands for.
pub fn unpack(packed: &[u8; PACKED_BYTES]) -> [f32; DIM] {
    let (scale, nibbles) = split(packed);
    let mut vector = [0f32; DIM];
    for (i, &byte) in nibbles.iter().enumerate() {
        vector[i] = scale * (f32::from(byte & 15) - 8.0);
        vector[i + HALF] = scale * (f32::from(byte >> 4) - 8.0);
    }
    vector
}

fn split(packed: &[u8; PACKED_BYTES]) -> (f32, &[u8; HALF]) {
    let (scale, nibbles) = packed.split_first_chunk::<4>().expect("a packed vector has a scale");
    (f32::from_le_bytes(*scale), nibbles.try_into().expect("and 128 bytes of values"))
}

impl PackedQuery {
    /// Packs a query; it need not be of unit length.
    #[must_use]
    pub fn new(vector: &[f32; DIM]) -> Self {
        let peak = vector.iter().fold(0f32, |max, x| max.max(x.abs()));
        let scale = if peak > 0.0 { peak / 127.0 } else { 1.0 };
        let mut values = [0i8; DIM];
        for (value, x) in values.iter_mut().zip(vector) {
            *value = (x / scale).round() as i8;
        }
        let offset = 8 * values.iter().map(|&v| i32::from(v)).sum::<i32>();
        Self { values, scale, offset }
    }

    /// The dot product with a packed vector.
    #[must_use]
    pub fn dot(&self, packed: &[u8; PACKED_BYTES]) -> f32 {
        let (scale, nibbles) = split(packed);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return self.product(scale, unsafe { avx2::dot(&self.values, nibbles) });
        }
        self.product(scale, dot_portable(&self.values, nibbles))
    }

    /// Appends the dot product with each packed vector to `out`.
    pub fn dots(&self, vectors: &[[u8; PACKED_BYTES]], out: &mut Vec<f32>) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            unsafe { avx2::dots(self, vectors, out) };
            return;
        }
        out.extend(vectors.iter().map(|packed| self.dot(packed)));
    }

    #[inline]
    fn product(&self, document_scale: f32, sum: i32) -> f32 {
        (sum - self.offset) as f32 * (self.scale * document_scale)
    }
}

/// Sum over all dimensions of query value times stored value (0..=15).
fn dot_portable(query: &[i8; DIM], nibbles: &[u8; HALF]) -> i32 {
    let (low, high) = query.split_at(HALF);
    let mut sum = 0i32;
    for (&byte, (&low, &high)) in nibbles.iter().zip(low.iter().zip(high)) {
        sum += i32::from(low) * i32::from(byte & 15) + i32::from(high) * i32::from(byte >> 4);
    }
    sum
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_add_epi16,
        _mm256_and_si256, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi8, _mm256_set1_epi16,
        _mm256_setzero_si256, _mm256_srli_epi16,
    };

    use super::{DIM, HALF, PACKED_BYTES, PackedQuery, split};

    /// As [`super::PackedQuery::dots`].
    #[target_feature(enable = "avx2")]
    pub(super) fn dots(query: &PackedQuery, vectors: &[[u8; PACKED_BYTES]], out: &mut Vec<f32>) {
        for packed in vectors {
            let (scale, nibbles) = split(packed);
            out.push(query.product(scale, dot(&query.values, nibbles)));
        }
    }

    /// As [`super::dot_portable`]. A 16-bit lane adds 8 pair products of at most `2 * 15 * 127`, which is 30,480:
    /// no overflow.
    #[target_feature(enable = "avx2")]
    pub(super) fn dot(query: &[i8; DIM], nibbles: &[u8; HALF]) -> i32 {
        let mask = _mm256_set1_epi8(15);
        let mut sums = _mm256_setzero_si256();
        for i in 0..HALF / 32 {
            // SAFETY: the loads stay inside the arrays: 32 bytes at 32 * i, i < 4, of 128 and of 256 bytes.
            let (bytes, low, high) = unsafe {
                (
                    _mm256_loadu_si256(nibbles.as_ptr().add(32 * i).cast::<__m256i>()),
                    _mm256_loadu_si256(query.as_ptr().add(32 * i).cast::<__m256i>()),
                    _mm256_loadu_si256(query.as_ptr().add(HALF + 32 * i).cast::<__m256i>()),
                )
            };
            let lows = _mm256_and_si256(bytes, mask);
            let highs = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), mask);
            sums = _mm256_add_epi16(sums, _mm256_maddubs_epi16(lows, low));
            sums = _mm256_add_epi16(sums, _mm256_maddubs_epi16(highs, high));
        }
        let sums = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
        let sums = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let sums = _mm_add_epi32(sums, _mm_shuffle_epi32::<0b00_00_11_10>(sums));
        let sums = _mm_add_epi32(sums, _mm_shuffle_epi32::<0b00_00_00_01>(sums));
        _mm_cvtsi128_si32(sums)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_kernel_gives_the_same_sum(
            query in proptest::collection::vec(-127i8..=127, DIM),
            bytes in proptest::collection::vec(any::<u8>(), HALF),
        ) {
            let query: [i8; DIM] = query.try_into().unwrap();
            let nibbles: [u8; HALF] = bytes.try_into().unwrap();
            let expected = dot_portable(&query, &nibbles);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                prop_assert_eq!(unsafe { avx2::dot(&query, &nibbles) }, expected);
            }
            let _ = expected;
        }

        #[test]
        fn a_packed_product_is_close_to_the_exact_one(seed in any::<u64>()) {
            let mut state = seed | 1;
            let mut vector = || {
                let mut v = [0f32; DIM];
                for x in &mut v {
                    *x = (0..4).map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
                    }).sum();
                }
                let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
                v.map(|x| x / length)
            };
            let (query, document) = (vector(), vector());
            let mut packed = [0u8; PACKED_BYTES];
            pack(&document, &mut packed);
            let found = PackedQuery::new(&query).dot(&packed);
            prop_assert_eq!(signs(&packed), signs_of(&unpack(&packed)));
            let mut n_different = Vec::new();
            differences(&signs(&packed), &[signs(&packed), [0; 4]], &mut n_different);
            let n_set: u32 = signs(&packed).iter().map(|word| word.count_ones()).sum();
            prop_assert_eq!(n_different, vec![0, n_set]);
            let mut batch = Vec::new();
            PackedQuery::new(&query).dots(&[packed], &mut batch);
            prop_assert_eq!(batch[0], PackedQuery::new(&query).dot(&packed));
            let exact: f32 = query.iter().zip(&document).map(|(a, b)| a * b).sum();
            prop_assert!((found - exact).abs() < 0.04, "{found} is not {exact}");
        }
    }

    #[test]
    fn signs_are_those_of_the_values() {
        let mut packed = [0u8; PACKED_BYTES];
        for seed in 0..50u32 {
            let vector: [f32; DIM] = std::array::from_fn(|i| {
                let mixed = (i as u32 + 1).wrapping_mul(2_654_435_761).wrapping_add(seed * 97);
                (mixed >> 8) as f32 / (1 << 24) as f32 - 0.5
            });
            pack(&vector, &mut packed);
            assert_eq!(signs(&packed), signs_of(&unpack(&packed)));
            let length = sum_of_squares(&unpack(&packed));
            assert!((length - 1.0).abs() < 1e-4, "{length}");
        }
    }

    #[test]
    fn a_zero_vector_stays_zero() {
        let mut packed = [0u8; PACKED_BYTES];
        pack(&[0.0; DIM], &mut packed);
        assert_eq!(unpack(&packed), [0.0; DIM]);
    }
}
