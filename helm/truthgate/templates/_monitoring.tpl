{{/* The groups of rules, those of the values or the chart's own, with the values' changes of alerts. */}}
{{- define "truthgate.ruleGroups" -}}
{{- $values := .Values.prometheusRule -}}
{{- $source := $values.rules | default (.Files.Get "files/rules.json") -}}
{{- range $name, $_ := $values.alerts -}}
{{- if not (regexMatch (printf "alert\"?: \"?%s\\b" $name) $source) -}}
{{- fail (printf "prometheusRule.alerts has %s, and no alert has that name" $name) -}}
{{- end -}}
{{- end -}}
{{- $given := list -}}
{{- if $values.rules -}}
{{- $given = required "prometheusRule.rules has no groups: is it what `truthgate monitoring rules` writes?" (fromYaml $values.rules).groups -}}
{{- else -}}
{{- $given = include "truthgate.ownRuleGroups" . | fromJsonArray -}}
{{- end -}}
{{- $groups := list -}}
{{- range $group := $given -}}
{{- $rules := list -}}
{{- range $rule := $group.rules -}}
{{- $change := get $values.alerts ($rule.alert | default "") | default dict -}}
{{- if and $rule.alert $values.alertLabels -}}
{{- $rule = mergeOverwrite $rule (dict "labels" (deepCopy $values.alertLabels)) -}}
{{- end -}}
{{- if dig "enabled" true $change -}}
{{- $rules = append $rules (mergeOverwrite $rule (omit $change "enabled")) -}}
{{- end -}}
{{- end -}}
{{- if $rules -}}
{{- $groups = append $groups (merge (dict "rules" $rules) $group) -}}
{{- end -}}
{{- end -}}
{{- toYaml $groups -}}
{{- end -}}

{{/* The groups of rules as truthgate writes them for these settings, in JSON; refuses settings that change them. */}}
{{- define "truthgate.ownRuleGroups" -}}
{{- $settings := .Values.settings -}}
{{- $file := .Files.Get "files/rules.json" | replace "@job@" (include "truthgate.fullname" .) | replace "\"@runbook@" (.Values.prometheusRule.runbookUrl | toJson | trimSuffix "\"") | fromJson -}}
{{- range $file.settings -}}
{{- $found := $settings -}}
{{- range .path -}}
{{- $found = get ($found | default dict) . -}}
{{- end -}}
{{- if not (or (kindIs "invalid" $found) (eq (toString $found) "") (eq (toJson $found) (toJson .default))) -}}
{{- fail (printf "settings.%s is not the default, and the rules contain it: generate them with `truthgate monitoring rules --job %s` and these settings, and pass them with --set-file prometheusRule.rules=FILE" (join "." .path) (include "truthgate.fullname" $)) -}}
{{- end -}}
{{- end -}}
{{- $there := dict "" true "judges" (gt (len (dig "judges" "endpoints" dict $settings)) 0) "rates" (include "truthgate.setting" (list . "rates" "enabled") | eq "true") -}}
{{- $groups := list -}}
{{- range $group := $file.groups -}}
{{- $rules := list -}}
{{- range $group.rules -}}
{{- if and .rule.annotations (not $.Values.prometheusRule.runbookUrl) -}}
{{- $_ := unset .rule.annotations "runbook_url" -}}
{{- end -}}
{{- if get $there .needs -}}
{{- $rules = append $rules .rule -}}
{{- end -}}
{{- end -}}
{{- $groups = append $groups (dict "name" $group.name "rules" $rules) -}}
{{- end -}}
{{- toJson $groups -}}
{{- end -}}

{{/* The dashboard as truthgate writes it for these settings, in JSON. */}}
{{- define "truthgate.dashboard" -}}
{{- $objective := dict -}}
{{- range $name := list "in_time" "judged" "verdict_within_seconds" -}}
{{- $_ := set $objective $name (include "truthgate.setting" (list $ "objectives" $name)) -}}
{{- end -}}
{{- $limits := dict "In time" $objective.in_time "Judged" $objective.judged "Time to the verdict, quantiles" $objective.verdict_within_seconds "Time without a commit" (include "truthgate.setting" (list . "health" "stall_timeout_seconds")) "Silence of Kafka" (include "truthgate.setting" (list . "health" "kafka_timeout_seconds")) -}}
{{- $board := .Files.Get "files/dashboard.json" | replace "@job@" (include "truthgate.fullname" .) | fromJson -}}
{{- range $variable := $board.templating.list -}}
{{- $value := get $objective $variable.name -}}
{{- if and $value (ne $variable.name "verdict_within_seconds") -}}
{{- $_ := set $variable "current" (dict "selected" true "text" $value "value" $value) -}}
{{- if eq $variable.type "constant" -}}
{{- $_ := set $variable "query" $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $panel := $board.panels -}}
{{- with get $limits $panel.title -}}
{{- $_ := set (last $panel.fieldConfig.defaults.thresholds.steps) "value" (. | float64) -}}
{{- end -}}
{{- end -}}
{{- toJson $board -}}
{{- end -}}
