#include "app/configuration/presets.h"

#include <QCoreApplication>
#include <QDirIterator>
#include <QHash>
#include <algorithm>

namespace app {

namespace {

constexpr auto kFirstRun = "first_run";

/// "first_run" → "First run", "gpt" → "GPT".
QString titleOf(const QString& stem)
{
    static const QHash<QString, QString> kModels{{"bert", "BERT"},
                                                 {"gpt", "GPT"},
                                                 {"lstm", "LSTM"},
                                                 {"mlp", "MLP"},
                                                 {"resnet18", "ResNet-18"},
                                                 {"resnet50", "ResNet-50"},
                                                 {"vit", "ViT"},
                                                 {"mnist_loading", "MNIST loading"},
                                                 {"gelu_fusion", "GELU fusion"}};
    if (const auto known = kModels.constFind(stem); known != kModels.constEnd())
        return *known;
    QString title = QString(stem).replace('_', ' ');
    title[0] = title[0].toUpper();
    return title;
}

} // namespace

std::vector<Preset> allPresets()
{
    std::vector<Preset> presets;
    for (QDirIterator files(":/examples", {"*.json"}, QDir::Files); files.hasNext();) {
        QFile file(files.next());
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const auto parsed =
            config::TrainingConfig::fromJson(file.readAll().toStdString(), file.fileName().toStdString());
        const QString stem = files.fileInfo().completeBaseName();
        if (parsed)
            presets.push_back({stem, titleOf(stem), *parsed});
    }
    std::sort(presets.begin(), presets.end(), [](const Preset& a, const Preset& b) {
        return std::pair(a.id != kFirstRun, a.id) < std::pair(b.id != kFirstRun, b.id);
    });
    return presets;
}

Preset firstRun()
{
    for (Preset& preset : allPresets())
        if (preset.id == kFirstRun)
            return preset;
    return {kFirstRun, QCoreApplication::translate("presets", "First run"), config::TrainingConfig()};
}

} // namespace app
