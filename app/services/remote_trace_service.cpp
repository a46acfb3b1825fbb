#include "app/services/remote_trace_service.h"

#include "advisor/runner/remote_answer.h"
#include "advisor/runner/remote_ranks.h"
#include "app/document/remote_advice.h"
#include "app/document/remote_job.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/services/notices.h"
#include "profiler/formats/container/trace_reader.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace app {

using advisor::runner::RemoteHost;
using advisor::runner::RemoteTrace;
using profiler::Error;

namespace {

constexpr int kLookMs = 100; ///< as often as a person sees a change
/// A trace that takes longer is only transferred on request.
constexpr double kMostAutomaticSeconds = 20;
constexpr std::uint64_t kMostAdvice = 32 << 20;

/// A path in the home folder, where ssh starts, without the shell that would expand it.
std::string pathOf(const RemotePlace& place)
{
    const bool isInHome = !place.isCommand && place.path.startsWith(QStringLiteral("~/"));
    return (isInHome ? place.path.mid(2) : place.path).toStdString();
}

profiler::Result<RemoteHost> hostOf(const RemotePlace& place)
{
    return place.isCommand ? RemoteHost::through(place.host.toStdString())
                           : RemoteHost::overSsh(place.host.toStdString());
}

/// Progress and cancelling of work that connects.
/// @param converting  what the other machine does before the first bytes come
RemoteTrace::Opening openingWith(const std::stop_token& stop, std::function<void(const QString&, double)> tell,
                                 const QString& converting = {})
{
    return {.uploading =
                [tell](std::uint64_t bytes) {
                    tell(RemoteTraceService::tr("Uploading Stepscope's program (%1)")
                             .arg(formatBytes(static_cast<double>(bytes))),
                         0);
                },
            .converting = [tell, converting](double share) { tell(converting, share); },
            .goesOn = [stop] { return !stop.stop_requested(); }};
}

} // namespace

RemoteTraceService::RemoteTraceService(Notices* notices, TraceDocument* document, QObject* parent)
    : QObject(parent), m_notices(notices), m_document(document)
{
    m_look.setInterval(kLookMs);
    connect(&m_look, &QTimer::timeout, this, &RemoteTraceService::look);
    connect(m_document, &TraceDocument::traceReplaced, this, [this] {
        if (!m_isShowing)
            leave();
    });
    connect(m_document, &TraceDocument::analysedChanged, this, [this] {
        if (m_remote && m_document->analysed() && m_document->trace()->unread().slices > 0)
            emit m_notices->noticed(tr("A part of the trace is missing from the analysis."),
                                    tr("It was not transferred before the connection was lost. Reconnect to analyse "
                                       "the whole trace."),
                                    true);
    });
}

RemoteTraceService::~RemoteTraceService()
{
    if (m_remote)
        m_remote->close(); // before the threads that may wait for it
}

quint64 RemoteTraceService::size() const
{
    return m_remote ? m_remote->size() : 0;
}

void RemoteTraceService::setState(State state)
{
    m_state = state;
    emit changed();
}

/// The document shows another trace.
void RemoteTraceService::leave()
{
    if (!m_remote)
        return;
    m_remote->close();
    m_remote.reset();
    m_look.stop();
    m_reconnecting.cancel();
    m_advising.cancel();
    m_isAdvising = false;
    setState(State::None);
}

bool RemoteTraceService::mayOpen()
{
    emit m_notices->outdated();
    if (m_document->isTraining())
        emit m_notices->noticed(tr("A training run is in progress. Stop it before you open another trace."), {}, false);
    return !m_document->isTraining();
}

void RemoteTraceService::open(const RemotePlace& place)
{
    if (!mayOpen())
        return;
    auto host = hostOf(place);
    if (!host) {
        emit m_notices->noticed(tr("%1 cannot be opened: %2").arg(place.text(), asQString(host.error().what.text)),
                                detailOf(host.error()), true);
        return;
    }
    start({place, pathOf(place), std::make_shared<const RemoteHost>(*std::move(host))});
}

void RemoteTraceService::openRank(std::size_t file)
{
    if (!m_job || file >= m_job->paths.size() || !mayOpen())
        return;
    Wanted rank = m_folder;
    rank.place.path = asQString(m_job->job.files.files[file].string()).mid(m_folder.place.host.size() + 1);
    rank.path = m_job->paths[file];
    rank.isRank = true;
    start(rank);
}

void RemoteTraceService::openRanks(const advisor::runner::RanksToMerge& ranks)
{
    if (!m_job || !mayOpen()) {
        emit ranksOpened(false);
        return;
    }
    Wanted merged = m_folder;
    merged.isRank = true;
    merged.merged = ranks;
    start(merged);
}

void RemoteTraceService::leaveJob()
{
    m_folder = {};
    m_job.reset();
    if (m_isOpeningRank)
        cancelOpening();
}

/// Ends the progress that is shown.
void RemoteTraceService::finishOpening(bool areRanksShown)
{
    m_isOpening = m_isOpeningRank = false;
    emit progressed({}, 1);
    if (std::exchange(m_isOpeningRanks, false))
        emit ranksOpened(areRanksShown);
}

void RemoteTraceService::start(const Wanted& wanted)
{
    if (m_isOpeningRanks && !wanted.merged)
        finishOpening(); // superseded, and no answer about other ranks will come
    m_isOpening = true;
    m_isOpeningRank = wanted.isRank;
    m_isOpeningRanks = wanted.merged.has_value();
    emit progressed(tr("Connecting to %1").arg(wanted.place.host), 0);
    const Failed failed = [this, place = wanted.place, areRanks = m_isOpeningRanks](const Error& error) {
        finishOpening();
        const QString why = asQString(error.what.text);
        if (error.code != Error::Code::Cancelled)
            emit m_notices->noticed(areRanks ? tr("The ranks cannot be shown together: %1").arg(why)
                                             : tr("%1 cannot be opened: %2").arg(place.text(), why),
                                    detailOf(error), true);
    };
    m_opening.start(
        [this, given = wanted, failed](const std::stop_token& stop, const Background::Post& post) {
            Wanted there = given;
            const auto tell = [this, post](const QString& what, double share) {
                post([this, what, share] { emit progressed(what, std::min(share, 0.99)); });
            };
            if (there.merged) {
                const auto merged = advisor::runner::mergeRemoteRanks(
                    *there.host, there.path, *there.merged,
                    openingWith(stop, tell, tr("Merging the ranks on %1").arg(there.place.host)));
                if (!merged)
                    return post([failed, error = merged.error()] { failed(error); });
                there.path = *merged;
            }
            const auto opening = openingWith(stop, tell, tr("Converting the trace on %1").arg(there.place.host));
            const auto remote = RemoteTrace::open(there.host, there.path, opening);
            if (!remote && remote.error().what.id == advisor::runner::kRemoteRanks && !there.isRank)
                return openJob(there, stop, post, failed);
            if (!remote)
                return post([failed, error = remote.error()] { failed(error); });
            // A read that waits ends when the user cancels.
            const std::stop_callback cancels(stop, [&] { (*remote)->close(); });
            post([this] { emit progressed(tr("Reading the overview of the trace"), 0); });
            const auto begin = std::chrono::steady_clock::now();
            const auto trace =
                profiler::container::readSealedOnDemand({*remote, there.place.text().toStdString()}, stop);
            if (!trace)
                return post([failed, error = trace.error()] { failed(error); });
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            Opened opened{there, *remote, *trace, static_cast<double>((*remote)->fetched()) / took.count()};
            post([this, opened = std::move(opened)] { show(opened); });
        },
        failed);
}

/// Reads the ranks there. Not on the GUI thread.
void RemoteTraceService::openJob(const Wanted& wanted, const std::stop_token& stop, const Background::Post& post,
                                 const Failed& failed)
{
    const auto tell = [this, post](const QString& what, double share) {
        post([this, what, share] { emit progressed(what, std::min(share, 0.99)); });
    };
    const auto opening = openingWith(stop, tell, tr("Reading the traces of the job on %1").arg(wanted.place.host));
    const auto bytes = advisor::runner::readRemoteRanks(*wanted.host, wanted.path, opening);
    auto job = bytes ? remoteJob(*bytes, wanted.place.host.toStdString()) : tl::unexpected(bytes.error());
    if (!job)
        return post([failed, error = job.error()] { failed(error); });
    post([this, wanted, shared = std::make_shared<const RemoteJob>(std::move(*job))] { takeJob(wanted, shared); });
}

void RemoteTraceService::takeJob(const Wanted& wanted, const std::shared_ptr<const RemoteJob>& job)
{
    finishOpening();
    m_folder = wanted;
    m_job = job;
    addRecentPlace(wanted.place);
    emit jobOpened({job, &job->job}, wanted.place.text());
}

void RemoteTraceService::cancelOpening()
{
    m_opening.cancel();
    finishOpening();
}

void RemoteTraceService::show(const Opened& opened)
{
    finishOpening(true); // before the document shows them
    leave();
    m_remote = opened.remote;
    m_remote->setImpatient(std::this_thread::get_id());
    m_place = opened.wanted.place;
    m_path = opened.wanted.path;
    m_whyLost.clear();
    m_fetched = m_remote->fetched();
    m_bytesPerSecond = opened.bytesPerSecond;
    m_isAnalysedHere = false;
    m_isAutomatic = size() <= m_mostAutomatic && secondsToTransfer() <= kMostAutomaticSeconds;
    m_isShowing = true;
    const auto& merged = opened.wanted.merged;
    m_document->showRemote(opened.trace, m_place.text(),
                           tr("The trace is on %1, and only the parts that you look at are transferred. Choose "
                              "Analyse here to transfer and analyse all of it (%2).")
                               .arg(m_place.host, formatBytes(static_cast<double>(size()))),
                           merged ? tr("%1 ranks").arg(merged->ranks.size()) : QString());
    m_isShowing = false;
    if (!opened.wanted.isRank)
        addRecentPlace(m_place);
    m_look.start();
    setState(State::Connected);
    if (m_isAutomatic)
        analyseHere();
    else
        advise();
}

double RemoteTraceService::secondsToTransfer() const
{
    return m_bytesPerSecond > 0 ? static_cast<double>(size() - m_fetched) / m_bytesPerSecond : 0;
}

/// Handles the data that has arrived since the last call.
void RemoteTraceService::look()
{
    const quint64 fetched = m_remote->fetched();
    const bool isNew = std::exchange(m_fetched, fetched) != fetched;
    if (isNew)
        emit m_document->morePartsHere();
    if (m_state == State::Connected && m_remote->state() == RemoteTrace::State::Lost) {
        const auto why = m_remote->whyLost();
        m_whyLost = why ? asQString(why->message()) : QString();
        setState(State::Lost);
    } else if (isNew) {
        emit changed();
    }
}

void RemoteTraceService::reconnect()
{
    if (m_state != State::Lost)
        return;
    setState(State::Reconnecting);
    const auto failed = [this](const Error& error) {
        m_whyLost = asQString(error.message());
        setState(State::Lost);
    };
    m_reconnecting.start(
        [this, remote = m_remote, failed](const std::stop_token& stop, const Background::Post& post) {
            const auto connected = remote->reconnect(openingWith(stop, [](const QString&, double) {}));
            post([this, failed, connected] {
                if (!connected)
                    return failed(connected.error());
                m_whyLost.clear();
                setState(State::Connected);
                emit m_document->morePartsHere(); // what could not be read without a connection
                if (m_isAnalysedHere)
                    m_document->analyseHere(); // it may lack what could not be transferred
                else if (!m_document->advice() && !m_isAdvising)
                    advise();
            });
        },
        failed);
}

void RemoteTraceService::analyseHere()
{
    if (!m_remote || m_isAnalysedHere)
        return;
    m_isAnalysedHere = true;
    m_advising.cancel();
    m_isAdvising = false;
    m_document->analyseHere();
    emit changed();
}

/// The rules run next to the trace; only their verdicts come here.
void RemoteTraceService::advise()
{
    m_isAdvising = true;
    emit changed();
    const auto ended = [this] {
        m_isAdvising = false;
        emit changed();
    };
    const auto failed = [this, ended](const Error& error) {
        ended();
        if (m_state == State::Connected && error.code != Error::Code::Cancelled)
            emit m_notices->noticed(tr("No findings from %1: %2").arg(m_place.host, asQString(error.what.text)),
                                    detailOf(error), true);
    };
    m_advising.start(
        [this, remote = m_remote, trace = m_document->trace(), path = m_path, ended,
         failed](const std::stop_token& stop, const Background::Post& post) {
            std::string output, errors;
            const auto status = advisor::runner::askRemote(remote->host(), remote->program(),
                                                           {.words = {"advise", "--json", "--", path},
                                                            .folder = {},
                                                            .result = {},
                                                            .mostText = kMostAdvice,
                                                            .output = [&](std::string_view text) { output += text; },
                                                            .errors = [&](std::string_view text) { errors += text; },
                                                            .received = {},
                                                            .goesOn = [&] { return !stop.stop_requested(); }});
            if (!status)
                return post([failed, error = status.error()] { failed(error); });
            const auto rules = remoteAdvice(QByteArray::fromStdString(output), *trace);
            if (!rules)
                return post([failed, errors, host = remote->host().name()] {
                    failed(profiler::makeError<"remote.advice",
                                               "the findings from the other machine are malformed: {why}">(
                        Error::Code::Malformed, host, "run stepscope-cli advise there", {{"why", errors}}));
                });
            auto advice = std::make_shared<Advised>();
            advice->rules = *rules;
            post([this, advice, ended] {
                m_document->setAdvice(advice);
                ended();
            });
        },
        failed);
}

} // namespace app
