#pragma once

#include "advisor/runner/remote_trace.h"
#include "app/services/background.h"
#include "app/services/remote_places.h"
#include "profiler/model/trace.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>

namespace app {

class Notices;
class TraceDocument;

/// A trace on another machine, shown in the document: opens it, reports how much of it has come here, and connects
/// again after the connection was lost. The findings come from the other machine. GUI thread, which never waits for the
/// connection.
class RemoteTraceService : public QObject {
    Q_OBJECT
public:
    enum class State { None, Connected, Lost, Reconnecting };

    /// Both must outlive the service.
    RemoteTraceService(Notices* notices, TraceDocument* document, QObject* parent = nullptr);
    ~RemoteTraceService() override;

    /// Shows the trace once it is open there. A newer call supersedes a running one.
    void open(const RemotePlace& place);
    [[nodiscard]] bool isOpening() const { return m_isOpening; }
    void cancelOpening();
    void reconnect();
    /// Reads all of the trace for the analyses.
    void analyseHere();

    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] const RemotePlace& place() const { return m_place; }
    [[nodiscard]] QString whyLost() const { return m_whyLost; }
    [[nodiscard]] quint64 fetched() const { return m_fetched; } ///< bytes
    [[nodiscard]] quint64 size() const;                         ///< bytes of the whole trace
    [[nodiscard]] bool isAnalysedHere() const { return m_isAnalysedHere; }
    /// The rules run on the other machine.
    [[nodiscard]] bool isAdvising() const { return m_isAdvising; }

signals:
    void progressed(const QString& what, double share); ///< of opening; share 1: finished
    void changed();                                     ///< state, bytes, or what is analysed

private:
    using Remote = std::shared_ptr<advisor::runner::RemoteTrace>;
    void show(const RemotePlace& place, const Remote& remote, const std::shared_ptr<const profiler::Trace>& trace);
    void look();
    void advise();
    void leave();
    void setState(State state);

    Notices* m_notices;
    TraceDocument* m_document;
    State m_state = State::None;
    RemotePlace m_place;
    QString m_whyLost;
    quint64 m_fetched = 0;
    bool m_isOpening = false, m_isAnalysedHere = false, m_isAdvising = false, m_isShowing = false;
    Remote m_remote; ///< null: the document shows no remote trace
    QTimer m_look;   ///< notices what has come
    Background m_opening{this}, m_reconnecting{this}, m_advising{this};
};

} // namespace app
