#pragma once

#include "app/services/background.h"
#include "profiler/model/result.h"
#include "trainer/config/protocol.h"

#include <QObject>
#include <QString>

namespace app {

/// The trainer's capabilities: first from a cache, then from the trainer itself.
class TrainerDescription : public QObject {
    Q_OBJECT
public:
    explicit TrainerDescription(QObject* parent = nullptr);
    ~TrainerDescription() override;

    [[nodiscard]] const config::protocol::Description& get() const { return m_description; }
    /// True if an answer is available, possibly from the cache.
    [[nodiscard]] bool isKnown() const { return m_known; }
    /// Reads the cache entry for this trainer binary, then queries the trainer.
    void refresh();

signals:
    void changed();
    /// The trainer is missing or does not respond.
    void failed(const profiler::Error& error);

private:
    void take(const config::protocol::Description& description);

    config::protocol::Description m_description;
    bool m_known = false;
    Background m_thread;
};

} // namespace app
