#include "app/services/trainer_description.h"

#include "advisor/experiment/trainer_process.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>

namespace app {

namespace {

/// A rebuilt trainer may have new features, so its modification time is part of the name.
QString cacheFile(const std::filesystem::path& program)
{
    const QFileInfo info(QString::fromStdString(program.string()));
    const QByteArray identity = info.absoluteFilePath().toUtf8() + '\n' +
                                QByteArray::number(info.lastModified().toMSecsSinceEpoch()) + '\n' +
                                QByteArray::number(info.size());
    const QByteArray hash = QCryptographicHash::hash(identity, QCryptographicHash::Sha1).toHex();
    return QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + "/describe-" +
           QString::fromLatin1(hash.left(16)) + ".json";
}

void remember(const QString& file, const config::protocol::Description& description)
{
    QDir().mkpath(QFileInfo(file).path());
    QSaveFile out(file);
    // A cache that cannot be written only delays the next start slightly.
    if (out.open(QIODevice::WriteOnly)) {
        out.write(QByteArray::fromStdString(config::protocol::toJson(description)));
        out.commit();
    }
}

} // namespace

TrainerDescription::TrainerDescription(QObject* parent) : QObject(parent), m_thread(this) {}

TrainerDescription::~TrainerDescription()
{
    m_thread.cancel();
}

void TrainerDescription::refresh()
{
    const auto program = advisor::findTrainer();
    if (!program) {
        emit failed(program.error());
        return;
    }
    const QString file = cacheFile(*program);
    QFile cached(file);
    if (cached.open(QIODevice::ReadOnly))
        if (const auto description = config::protocol::parseDescription(cached.readAll().toStdString()))
            take(*description);
    m_thread.start(
        [this, program = *program, file](const std::stop_token& stop, const Background::Post& post) {
            const auto description = advisor::describeTrainer(program);
            if (stop.stop_requested())
                return;
            if (!description) {
                post([this, error = description.error()] { emit failed(error); });
                return;
            }
            remember(file, *description);
            post([this, description = *description] { take(description); });
        },
        [this](const profiler::Error& error) { emit failed(error); });
}

void TrainerDescription::take(const config::protocol::Description& description)
{
    m_description = description;
    m_known = true;
    emit changed();
}

} // namespace app
