//! Numbers from a seed.

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): small, and the same on every machine.
pub struct Random(u64);

impl Random {
    /// The stream `stream` of a seed; streams of one seed have nothing to do with each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed);
        let start = random.next() ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93);
        Self(start)
    }

    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// From 0 up to, not including, 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of a list that is not empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// One of a list that is not empty, by the weight of each.
    pub fn weighted<T: Copy>(&mut self, list: &[(usize, T)]) -> T {
        let sum: usize = list.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(sum);
        for &(weight, value) in list {
            if at < weight {
                return value;
            }
            at -= weight;
        }
        list[0].1
    }
}
