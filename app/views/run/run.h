#pragma once

#include <QCheckBox>
#include <QLineEdit>
#include <QWidget>
#include <vector>

class QToolButton;
class QVBoxLayout;

namespace app {

class ConfigurationModel;
class JobGuard;
class KnobRow;
class LevelCostMeasurer;

/// The form of the training configuration, with a field for every knob, generated from the knob table. Rarely needed
/// knobs, and knobs without effect under the current choices, are hidden unless they are changed, searched for, or All
/// is on.
class ConfigurationForm : public QWidget {
    Q_OBJECT
public:
    ConfigurationForm(ConfigurationModel* configuration, LevelCostMeasurer* levelCosts, const JobGuard* jobs,
                      QWidget* parent);

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

    ConfigurationModel* m_configuration;
    LevelCostMeasurer* m_levelCosts;
    const JobGuard* m_jobs;
    QLineEdit* m_search = nullptr;
    QCheckBox* m_advanced = nullptr;
    QWidget* m_changedLine = nullptr; ///< number of changed knobs; hidden if there are none
    QToolButton* m_onlyChanged = nullptr;
    QWidget* m_nothing = nullptr; ///< shown if the search has no results
    std::vector<Group> m_groups;
    QString m_costLevel; ///< being measured
    double m_costShare = 0;
};

} // namespace app
