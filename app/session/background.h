#pragma once

#include "profiler/model/result.h"

#include <QObject>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace app {

/// Runs work on threads of its own for an object of the GUI thread, which owns this as a member. The newest piece of
/// work supersedes the ones before: they are asked to stop, and nothing that they post arrives any more. At most two
/// pieces run at once, the newest and one that still has to notice that it is superseded; a third one waits, and a
/// fourth takes its place. Except for the destructor, no function waits for work.
class Background {
public:
    /// Calls a function on the owner's thread, unless the work was superseded or cancelled in the meantime.
    using Post = std::function<void(std::function<void()>)>;
    using Work = std::function<void(std::stop_token, const Post&)>;
    /// Called on the owner's thread when the work threw an exception, instead of what it would have posted.
    using Failed = std::function<void(const profiler::Error&)>;

    /// The superseded piece needs its memory until it stops: two traces fit, a third might not.
    static constexpr std::size_t kMostAtOnce = 2;

    explicit Background(QObject* owner);
    /// Asks all work to stop and waits for it.
    ~Background();
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    /// @param failed  puts the owner into a state from which it can go on: most often there was not enough memory
    void start(Work work, Failed failed);
    /// Nothing that was posted arrives after this call.
    void cancel();
    /// The same, for an owner that needs the work to be over, for example because it removes a file when it is stopped.
    void cancelAndWait();
    /// Asks the work to stop; what it posts still arrives.
    void requestStop();
    /// How many pieces of work run, superseded ones included.
    [[nodiscard]] std::size_t running() const;

private:
    struct Job {
        std::shared_ptr<std::atomic<bool>> ended;
        std::jthread thread; ///< last: it uses `ended`
    };
    struct Wanted {
        Work work;
        Failed failed;
    };

    void run(Wanted wanted);
    void startPending();
    [[nodiscard]] Post makePost() const;

    QObject* m_owner;
    std::shared_ptr<char> m_alive;  ///< gone with this object: what was posted for it is dropped
    std::shared_ptr<int> m_current; ///< number of the newest work; used on the owner's thread only
    std::optional<Wanted> m_pending;
    bool m_stopPending = false; ///< requestStop() came before the pending work could start
    std::vector<Job> m_jobs;    ///< last: the threads post to the owner
};

} // namespace app
