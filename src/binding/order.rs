//! Calls that begin and end a watch take effect in the order in which they were made, although each has its own thread.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A queue.
#[derive(Default)]
pub struct Order {
    places: Mutex<Places>,
    left: Condvar,
}

#[derive(Default)]
struct Places {
    next: u64,
    taken: BTreeSet<u64>,
}

/// A place in the queue; left when dropped.
pub struct Place {
    order: Arc<Order>,
    number: u64,
}

impl Order {
    /// Takes the last place.
    pub fn join(self: &Arc<Self>) -> Place {
        let mut places = self.lock();
        let number = places.next;
        places.next += 1;
        places.taken.insert(number);
        Place { order: Arc::clone(self), number }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Waits until this is the first place.
    pub fn wait(&self) {
        let mut places = self.order.lock();
        while places.taken.first() != Some(&self.number) {
            places = self.order.left.wait(places).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.order.lock().taken.remove(&self.number);
        self.order.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn places_are_served_in_turn_and_one_that_is_given_up_holds_up_nobody() {
        let order = Arc::new(Order::default());
        let (first, given_up, last) = (order.join(), order.join(), order.join());
        let served = Arc::new(Mutex::new(Vec::new()));
        let serve = |place: Place, name| {
            let served = Arc::clone(&served);
            thread::spawn(move || {
                place.wait();
                served.lock().unwrap().push(name);
            })
        };
        let last = serve(last, "last");
        drop(given_up);
        serve(first, "first").join().unwrap();
        last.join().unwrap();
        assert_eq!(*served.lock().unwrap(), ["first", "last"]);
    }
}
