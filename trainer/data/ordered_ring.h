#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace trainer::data {

/// Why a producer waits.
enum class RingWait { Full, Parked, NoWork };

/// Passes numbered items from many producers to one consumer in the order of their numbers. Bounded: at most `capacity`
/// numbers are claimed and not yet taken, including those in progress. The item that the consumer waits for therefore
/// always has a slot, and a deadlock is impossible.
///
/// Each producer loops: claim(), make the item in small pieces with mayContinue() before each, then deliver() or
/// drop(). An observer has `begin(RingWait)` and `end()`, called around each wait with the ring's lock held: it must
/// not block.
template <class T>
class OrderedRing {
public:
    /// @param keepProducers  at the end of a round, claim() waits for the next round; otherwise it returns nullopt
    OrderedRing(std::int64_t capacity, bool keepProducers)
        : m_slots(static_cast<std::size_t>(capacity)), m_keepProducers(keepProducers)
    {
    }

    // ---- consumer ----

    /// Starts a round with the numbers 0 … count − 1. The previous round must be finished or abandoned.
    void begin(std::int64_t count)
    {
        const std::lock_guard lock(m_mutex);
        m_taken = m_claimed = 0;
        m_count = count;
        m_work.notify_all();
    }

    /// Ends the round early: returns once no producer is working any more, which takes one piece of their work.
    void giveUp()
    {
        std::vector<std::optional<T>> leftOver(m_slots.size()); // destroyed without the lock: items may take locks
        std::unique_lock lock(m_mutex);
        m_givenUp = true;
        m_taken = m_claimed = m_count = 0;
        interrupt();
        m_quiet.wait(lock, [this] { return m_making == 0; });
        m_givenUp = false;
        interrupt();
        m_slots.swap(leftOver);
    }

    /// The next item in order, waiting for it; nullopt at the end of the round and after cancel().
    std::optional<T> take()
    {
        std::unique_lock lock(m_mutex);
        m_ready.wait(lock, [this] { return m_cancelled || m_taken == m_count || slot(m_taken).has_value(); });
        if (m_cancelled || m_taken == m_count)
            return std::nullopt;
        std::optional<T> item = std::exchange(slot(m_taken), std::nullopt);
        ++m_taken;
        m_work.notify_one();
        return item;
    }

    /// Returns when all producers are idle: they start nothing new until unpark().
    void park()
    {
        std::unique_lock lock(m_mutex);
        m_parked = true;
        interrupt();
        m_quiet.wait(lock, [this] { return m_making == m_resting || m_cancelled; });
    }

    // ---- any thread ----

    void unpark()
    {
        const std::lock_guard lock(m_mutex);
        m_parked = false;
        interrupt();
    }

    /// Wakes all threads permanently.
    void cancel()
    {
        const std::lock_guard lock(m_mutex);
        m_cancelled = true;
        interrupt();
        m_ready.notify_all();
        m_quiet.notify_all();
    }

    // ---- producers ----

    /// The next number to make; nullopt if the producer should end.
    template <class Observer>
    std::optional<std::int64_t> claim(Observer&& observer)
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            const Next now = next();
            if (now == Next::End)
                return std::nullopt;
            if (now == Next::Go)
                break;
            observer.begin(reason(now));
            m_work.wait(lock, [&] { return next() != now; });
            observer.end();
        }
        ++m_making;
        return m_claimed++;
    }

    /// Call it before each piece of work on a claimed number; waits while parked. If false, call drop().
    template <class Observer>
    bool mayContinue(Observer&& observer)
    {
        if (!m_interrupted.load(std::memory_order_acquire))
            return true;
        std::unique_lock lock(m_mutex);
        if (m_parked && !m_givenUp && !m_cancelled) {
            ++m_resting;
            m_quiet.notify_all();
            observer.begin(RingWait::Parked);
            m_resume.wait(lock, [this] { return !m_parked || m_givenUp || m_cancelled; });
            observer.end();
            --m_resting;
        }
        return !m_givenUp && !m_cancelled;
    }

    void deliver(std::int64_t number, T item)
    {
        // An item that is no longer wanted is destroyed in the caller's frame, without the lock.
        const std::lock_guard lock(m_mutex);
        endMaking();
        if (m_givenUp || m_cancelled)
            return;
        slot(number) = std::move(item);
        if (number == m_taken)
            m_ready.notify_one();
    }

    /// Abandons the claimed number after mayContinue() returned false.
    void drop()
    {
        const std::lock_guard lock(m_mutex);
        endMaking();
    }

private:
    enum class Next { Go, End, Full, Parked, NoWork };

    [[nodiscard]] Next next() const
    {
        const bool usedUp = m_claimed == m_count;
        if (m_cancelled || (usedUp && !m_keepProducers))
            return Next::End;
        if (m_parked)
            return Next::Parked;
        if (usedUp)
            return Next::NoWork;
        return m_claimed - m_taken < std::ssize(m_slots) ? Next::Go : Next::Full;
    }
    static RingWait reason(Next next)
    {
        return next == Next::Full ? RingWait::Full : next == Next::Parked ? RingWait::Parked : RingWait::NoWork;
    }
    std::optional<T>& slot(std::int64_t number) { return m_slots[static_cast<std::size_t>(number) % m_slots.size()]; }

    void endMaking()
    {
        --m_making;
        m_quiet.notify_all();
    }
    void interrupt()
    {
        m_interrupted.store(m_parked || m_givenUp || m_cancelled, std::memory_order_release);
        m_work.notify_all();
        m_resume.notify_all();
    }

    std::mutex m_mutex; ///< held only briefly; items are made and destroyed without it
    std::condition_variable m_work, m_resume, m_ready, m_quiet;
    std::vector<std::optional<T>> m_slots;
    const bool m_keepProducers;
    std::int64_t m_count = 0, m_claimed = 0, m_taken = 0;
    int m_making = 0;  ///< producers between claim() and deliver() or drop()
    int m_resting = 0; ///< those of m_making that wait in mayContinue(); a woken producer counts until it runs
    bool m_parked = false, m_givenUp = false, m_cancelled = false;
    std::atomic<bool> m_interrupted = false; ///< any of the three: mayContinue() then takes the lock
};

} // namespace trainer::data
