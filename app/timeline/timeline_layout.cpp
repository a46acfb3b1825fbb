#include "app/timeline/timeline_layout.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace app {

namespace {

constexpr int kLargestSize = 10'000;

QJsonArray listOf(const std::set<QString>& keys)
{
    QJsonArray list;
    for (const QString& key : keys)
        list.append(key);
    return list;
}

std::set<QString> setOf(const QJsonValue& list)
{
    std::set<QString> keys;
    for (const QJsonValue& key : list.toArray())
        if (key.isString())
            keys.insert(key.toString());
    return keys;
}

} // namespace

QByteArray RowLayout::toJson() const
{
    QJsonObject opened, sized, ordered;
    for (const auto& [key, isOpen] : open)
        opened[key] = isOpen;
    for (const auto& [key, size] : sizes)
        sized[key] = size;
    for (const auto& [parent, children] : order)
        ordered[parent] = QJsonArray::fromStringList(children);
    const QJsonObject all{
        {"open", opened}, {"hidden", listOf(hidden)}, {"pinned", listOf(pinned)}, {"sizes", sized}, {"order", ordered}};
    return QJsonDocument(all).toJson(QJsonDocument::Compact);
}

RowLayout RowLayout::fromJson(const QByteArray& text)
{
    RowLayout layout;
    const QJsonObject all = QJsonDocument::fromJson(text).object();
    const QJsonObject opened = all["open"].toObject(), sized = all["sizes"].toObject(),
                      ordered = all["order"].toObject();
    for (auto at = opened.begin(); at != opened.end(); ++at)
        if (at->isBool())
            layout.open[at.key()] = at->toBool();
    for (auto at = sized.begin(); at != sized.end(); ++at)
        if (const int size = at->toInt(); size > 0 && size <= kLargestSize)
            layout.sizes[at.key()] = size;
    for (auto at = ordered.begin(); at != ordered.end(); ++at) {
        QStringList children;
        for (const QJsonValue& child : at->toArray())
            if (child.isString())
                children.append(child.toString());
        children.removeDuplicates();
        if (!children.isEmpty())
            layout.order[at.key()] = children;
    }
    layout.hidden = setOf(all["hidden"]);
    layout.pinned = setOf(all["pinned"]);
    return layout;
}

} // namespace app
