#pragma once

#include "app/session/session.h"

#include <QCheckBox>
#include <QLineEdit>
#include <QWidget>
#include <vector>

class QToolButton;
class QVBoxLayout;

namespace app {

class KnobRow;

/// The form of the training configuration: a field for every knob, made from the table of knobs. What is seldom needed,
/// or does nothing with the other choices as they are, is folded away until it is changed, searched for, or All is on.
class ConfigurationForm : public QWidget {
    Q_OBJECT
public:
    ConfigurationForm(Session* session, QWidget* parent);

private:
    struct Group {
        QWidget* heading = nullptr;
        QWidget* body = nullptr;
        std::vector<KnobRow*> rows;
        bool folded = false;
    };
    QWidget* makeHeader();
    QWidget* makeChangedLine();
    void resetAll();
    QWidget* makeGroups();
    void addGroup(const QString& title, QVBoxLayout* layout);
    void addPresets(QToolButton* button);
    void takeEdits();
    void showValues();
    void showDescription();
    void showCost();
    void showCostAction(KnobRow& row);
    void filter();

    Session* m_session;
    QLineEdit* m_search = nullptr;
    QCheckBox* m_advanced = nullptr;
    QWidget* m_changedLine = nullptr; ///< how many differ from their defaults; hidden for none
    QToolButton* m_onlyChanged = nullptr;
    QWidget* m_nothing = nullptr; ///< said when the search finds nothing
    std::vector<Group> m_groups;
    QString m_costLevel; ///< being measured
    double m_costShare = 0;
};

} // namespace app
