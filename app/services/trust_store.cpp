#include "app/services/trust_store.h"

#include "advisor/runner/child_process.h"
#include "advisor/runner/shell_words.h"
#include "app/configuration/configuration_model.h"
#include "app/look/display_text.h"
#include "app/services/notices.h"

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <algorithm>
#include <system_error>
#include <utility>

namespace app {

using advisor::runner::Isolation;

namespace {

constexpr auto kMayCopy = "program/copies";

constexpr qint64 kBlock = 1 << 20;

/// Slashes in paths would create groups in the settings.
QString settingsKey(const CodeFile& code)
{
    QByteArray text = QByteArray::fromStdString(code.path.string());
    if (code.isProgram())
        text += '\0' + code.command.toUtf8() + '\0' + code.folder.toUtf8();
    return "trusted_code/" + QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex());
}

profiler::Error unreadable(const CodeFile& code, const QString& why)
{
    const std::filesystem::path& path = code.path;
    if (code.isProgram())
        return profiler::makeError<"code.program_unreadable", "the program cannot be read: {why}">(
            profiler::Error::Code::Io, path.string(), "check the command and its working directory",
            {{"why", why.toStdString()}});
    return profiler::makeError<"model.unreadable", "the model file cannot be read: {why}">(
        profiler::Error::Code::Io, path.string(), "under Model file, choose a file that you can read",
        {{"why", why.toStdString()}});
}

} // namespace

std::optional<CodeFile> codeOf(const config::TrainingConfig& configuration)
{
    const std::string& workload = configuration[config::key::workload];
    const std::string& path = configuration[config::key::modelPath];
    if ((workload != "torchscript" && workload != "plugin") || path.empty())
        return std::nullopt;
    CodeFile code;
    code.path = QFileInfo(QString::fromStdString(path)).absoluteFilePath().toStdString();
    code.workload = QString::fromStdString(workload);
    return code;
}

CodeFile codeOf(const std::vector<std::string>& command, const std::filesystem::path& folder)
{
    CodeFile code;
    code.command = QString::fromStdString(advisor::runner::commandLine(command));
    code.folder = QString::fromStdString(folder.string());
    std::error_code ignored;
    for (const std::string& word : command)
        if (word.ends_with(".py") || word.ends_with(".sh"))
            if (const auto script = (folder / word).lexically_normal();
                std::filesystem::is_regular_file(script, ignored)) {
                code.path = script;
                return code;
            }
    if (command.empty())
        return code;
    const std::string& program = command.front();
    const auto found = program.find('/') == std::string::npos
                           ? advisor::change::findTool(program)
                           : profiler::Result<std::filesystem::path>(folder / program);
    code.path = found ? found->lexically_normal() : folder / program;
    return code;
}

profiler::Result<CodeFile> readCode(CodeFile code, const std::stop_token& stop)
{
    QFile file(QString::fromStdString(code.path.string()));
    if (QFileInfo(file).isDir())
        return tl::unexpected(unreadable(code, "it is a folder"));
    if (!file.open(QIODevice::ReadOnly))
        return tl::unexpected(unreadable(code, file.errorString()));
    QCryptographicHash hash(QCryptographicHash::Sha256);
    QByteArray block(kBlock, Qt::Uninitialized);
    for (;;) {
        if (stop.stop_requested())
            return profiler::fail<"work.cancelled", "cancelled">(profiler::Error::Code::Cancelled);
        const qint64 got = file.read(block.data(), kBlock);
        if (got < 0)
            return tl::unexpected(unreadable(code, file.errorString()));
        if (got == 0)
            break;
        hash.addData(QByteArrayView(block.constData(), got));
        code.bytes += got;
    }
    code.sha256 = QString::fromLatin1(hash.result().toHex());
    const QStringList known = QSettings().value(settingsKey(code)).toStringList();
    if (known.size() == 2 && known[0] != code.sha256)
        code.changedSince = QDateTime::fromString(known[1], Qt::ISODate);
    return code;
}

bool isTrusted(const CodeFile& file)
{
    return QSettings().value(settingsKey(file)).toStringList().value(0) == file.sha256;
}

void trust(const CodeFile& file)
{
    QSettings().setValue(settingsKey(file),
                         QStringList{file.sha256, QDateTime::currentDateTime().toString(Qt::ISODate)});
}

TrustStore::TrustStore(Notices* notices, ConfigurationModel* configuration)
    : m_notices(notices), m_configuration(configuration)
{
}

TrustStore::~TrustStore()
{
    m_thread.cancel();
}

void TrustStore::passTraining(std::function<void()> go)
{
    pass(codeOf(m_configuration->get()), [this, go = std::move(go)](const QString& sha256) {
        // The trainer runs only the file with this hash; the run's record contains it.
        if (!sha256.isEmpty())
            static_cast<void>(m_configuration->setKnob(config::key::trustedSha256.name, sha256));
        passPackage(go);
    });
}

// A compiled model for validation is code, too, and needs permission like a model file.
void TrustStore::passPackage(const std::function<void()>& go)
{
    config::TrainingConfig package = m_configuration->get();
    const std::string path = package[config::key::evalPackage];
    if (path.empty() || !package.set(config::key::workload.name, "torchscript") ||
        !package.set(config::key::modelPath.name, path)) {
        go();
        return;
    }
    pass(codeOf(package), [this, go](const QString& sha256) {
        static_cast<void>(m_configuration->setKnob(config::key::evalPackageSha256.name, sha256));
        go();
    });
}

void TrustStore::passProgram(const std::vector<std::string>& command, const std::filesystem::path& folder,
                             std::function<void()> go)
{
    emit m_notices->outdated();
    pass(codeOf(command, folder), [go = std::move(go)](const QString&) { go(); });
}

void TrustStore::passIsolation(const std::filesystem::path& folder, const std::function<void(Isolation)>& go)
{
    const auto possible = advisor::runner::checkPrivateViews();
    if (possible)
        return go(Isolation::Overlay);
    if (QSettings().value(kMayCopy).toBool())
        return go(Isolation::Copy);
    m_afterCopyAsked = go;
    emit copyAsked(asQString(folder.string()), asQString(possible.error().what.text));
}

/// @param code  the code that would be run, not read yet; none: no user code
void TrustStore::pass(const std::optional<CodeFile>& code, Allowed allowed)
{
    m_thread.cancel();
    m_asked.reset();
    m_allowed = nullptr;
    if (!code) {
        allowed({});
        return;
    }
    m_allowed = std::move(allowed);
    m_thread.start(
        [this, code = *code](const std::stop_token& stop, const Background::Post& post) {
            post([this, read = readCode(code, stop)] { take(read); });
        },
        [this](const profiler::Error& error) { take(tl::unexpected(error)); });
}

void TrustStore::take(const profiler::Result<CodeFile>& read)
{
    if (!read) {
        m_allowed = nullptr;
        emit m_notices->noticed(tr("Not started: %1").arg(asQString(read.error().what.text)), detailOf(read.error()),
                                true);
    } else if (isTrusted(*read)) {
        std::exchange(m_allowed, nullptr)(read->sha256);
    } else {
        m_asked = *read;
        emit codeAsked(*read);
    }
}

void TrustStore::answerCode(const CodeFile& file, Answer answer)
{
    if (!m_asked || m_asked->path != file.path || m_asked->sha256 != file.sha256 || m_asked->command != file.command)
        return;
    m_asked.reset();
    const Allowed allowed = std::exchange(m_allowed, nullptr);
    if (answer == Answer::No)
        return;
    if (answer == Answer::Trust)
        trust(file);
    allowed(file.sha256);
}

void TrustStore::answerCopy(bool allowed)
{
    const auto go = std::exchange(m_afterCopyAsked, nullptr);
    if (!allowed || !go)
        return;
    QSettings().setValue(kMayCopy, true);
    go(Isolation::Copy);
}

} // namespace app
