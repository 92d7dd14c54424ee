//! What the parent does meanwhile: edits the tree, changes sentinels, kills processes, looks at what they use.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::sentinels::Sentinels;
use super::slot::Slot;
use super::tally::Tally;
use crate::edits::Editor;
use crate::failure::Result;
use crate::random::Random;

/// Something that is due again and again, at seeded intervals.
struct Due {
    mean: Duration,
    next: Instant,
}

impl Due {
    fn new(mean: Duration) -> Self {
        Self { mean, next: Instant::now() + mean }
    }

    fn is_now(&mut self, random: &mut Random) -> bool {
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        self.next = now + self.mean.mul_f64(0.4 + 1.2 * random.fraction());
        true
    }
}

/// Goes on for `duration`.
pub fn disturb(
    tally: &Mutex<Tally>,
    seed: u64,
    duration: Duration,
    editor: &mut Editor,
    sentinels: &mut Sentinels,
    slots: &mut [Slot],
) -> Result<()> {
    let started = Instant::now();
    let random = &mut Random::new(seed, 2);
    let ms = Duration::from_millis;
    let [mut sentinel, mut few_edits, mut ignore] = [120, 300, 9000].map(|n| Due::new(ms(n)));
    let [mut burst, mut branch, mut kill] = [35_000, 14_000, 4000].map(|n| Due::new(ms(n)));
    let [mut look, mut progress, mut quiet] = [2000, 20_000, 12_000].map(|n| Due::new(ms(n)));
    while started.elapsed() < duration {
        if sentinel.is_now(random) {
            let kind = sentinels.change_any(random)?;
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            *tally.sentinels.entry(kind).or_default() += 1;
        }
        if few_edits.is_now(random) {
            for _ in 0..1 + random.below(8) {
                editor.edit()?;
            }
        }
        if ignore.is_now(random) {
            editor.edit_ignore_file()?;
        }
        if burst.is_now(random) {
            editor.burst()?;
        }
        if branch.is_now(random) {
            editor.switch_branch()?;
        }
        if kill.is_now(random) {
            let mut mortal: Vec<&mut Slot> =
                slots.iter_mut().filter(|slot| slot.may_be_killed()).collect();
            if !mortal.is_empty() {
                let at = random.below(mortal.len());
                mortal[at].kill()?;
            }
        }
        if look.is_now(random) {
            for slot in slots.iter_mut() {
                slot.look()?;
            }
        }
        if progress.is_now(random) {
            let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.print_progress(started.elapsed().as_secs());
        }
        // Now and then nothing changes for a while, so that answers can be judged strictly.
        let rest = if quiet.is_now(random) { 3000 } else { 10 };
        std::thread::sleep(ms(rest));
    }
    Ok(())
}
