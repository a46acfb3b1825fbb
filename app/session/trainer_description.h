#pragma once

#include "app/session/background.h"
#include "profiler/model/result.h"
#include "trainer/config/protocol.h"

#include <QObject>
#include <QString>

namespace app {

/// What the trainer says that it can do: from a cache at once, from the trainer itself a little later.
class TrainerDescription : public QObject {
    Q_OBJECT
public:
    explicit TrainerDescription(QObject* parent = nullptr);
    ~TrainerDescription() override;

    [[nodiscard]] const config::protocol::Description& get() const { return m_description; }
    /// True once an answer is there, be it a remembered one.
    [[nodiscard]] bool isKnown() const { return m_known; }
    /// Takes what the cache has for this very trainer, then asks the trainer.
    void refresh();

signals:
    void changed();
    /// There is no trainer, or it does not answer.
    void failed(const profiler::Error& error);

private:
    void take(const config::protocol::Description& description);

    config::protocol::Description m_description;
    bool m_known = false;
    Background m_thread;
};

} // namespace app
