//! The record of a run: whether it fits what was planned, and what its metrics are.

use crate::fmt::ends_in_unit;
use crate::folder::plan_file::PlannedRun;
pub use crate::line::{DuetPair, Order, Record};

/// Whether a metric is a mean, a maximum or a percentile, by its name (`_mean_`, `_max_`, `_p50_`): it is missing where nothing was timed.
pub fn is_summary(metric: &str) -> bool {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    metric.split('_').any(|part| matches!(part, "mean" | "max") || part.strip_prefix('p').is_some_and(is_number))
}

impl Record {
    /// The test case's arm as cases.tsv names it: `A~B` for a duet.
    pub fn case_arm(&self) -> String {
        match &self.versus {
            Some(versus) => format!("{}~{versus}", self.arm),
            None => self.arm.clone(),
        }
    }

    /// The first difference from what was planned of `study`, or fault of the record itself, in words; `None` if it fits.
    pub fn misfit(&self, plan: &PlannedRun, study: &str) -> Option<String> {
        let facts = [
            ("run", self.run.clone(), plan.run.clone()),
            ("study", self.study.clone(), study.to_owned()),
            ("scenario", self.scenario.clone(), plan.case.scenario.clone()),
            ("arm", self.case_arm(), plan.case.arm.clone()),
            ("seed", self.seed.to_string(), plan.seed.to_string()),
            ("block", self.block.to_string(), plan.block.to_string()),
        ];
        let wrong = facts.into_iter().find(|(_, got, planned)| got != planned).map(|(what, got, planned)| {
            format!("the record of {} has the {what} '{got}', planned is '{planned}'", plan.run)
        });
        self.fault().or(wrong)
    }

    /// The seconds of the timed span: `work_s`, or all times of a duet; `None` where neither was recorded.
    pub fn timed_s(&self) -> Option<f64> {
        let pairs = self.pairs.as_ref().map(|pairs| pairs.iter().map(|pair| pair.a_s + pair.b_s).sum());
        pairs.or_else(|| self.metrics.get("work_s").copied())
    }

    pub fn fault(&self) -> Option<String> {
        if let Some(name) = self.metrics.keys().find(|name| !ends_in_unit(name)) {
            return Some(format!("metric '{name}' does not end in a unit"));
        }
        if let Some((name, value)) = self.metrics.iter().find(|(_, value)| !value.is_finite()) {
            return Some(format!("metric '{name}' is {value}: a number is needed"));
        }
        let is_timeless = |pair: &DuetPair| pair.a_s <= 0.0 || pair.b_s <= 0.0;
        let ab = self.pairs.iter().flatten().filter(|pair| pair.order == Order::Ab).count();
        let is_untimed = !self.metrics.contains_key("work_s");
        let has_result = !self.metrics.is_empty() || self.pairs.is_some() || !self.digest.is_empty();
        let fault = match (&self.error, &self.pairs, &self.versus) {
            (Some(_), ..) if has_result => "a failure has neither metrics, pairs nor digest",
            (None, None, Some(_)) => "a duet needs pairs",
            (None, None, None) if is_untimed => "a run needs work_s, its timed span",
            (_, Some(_), None) => "pairs stand only in duets: 'versus' is missing",
            (_, Some(pairs), _) if pairs.is_empty() => "a duet needs at least one pair",
            (_, Some(pairs), _) if pairs.iter().any(is_timeless) => "the times of a duet are above zero",
            // The order would count as a difference of the arms.
            (_, Some(pairs), _) if ab.abs_diff(pairs.len() - ab) > 1 => {
                let ba = pairs.len() - ab;
                return Some(format!("a duet needs both orders equally often, not {ab} times ab and {ba} times ba"));
            }
            _ => return None,
        };
        Some(fault.to_owned())
    }
}
