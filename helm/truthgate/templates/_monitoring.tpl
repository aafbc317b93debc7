{{/* The groups of rules as truthgate writes them for these settings; refuses settings that they would not hold for. */}}
{{- define "truthgate.ruleGroups" -}}
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
{{- if get $there .needs -}}
{{- $rules = append $rules .rule -}}
{{- end -}}
{{- end -}}
{{- if $rules -}}
{{- $groups = append $groups (dict "name" $group.name "rules" $rules) -}}
{{- end -}}
{{- end -}}
{{- toYaml $groups -}}
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
