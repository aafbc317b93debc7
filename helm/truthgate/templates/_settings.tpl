{{/* The effective settings, in JSON: those of the values, and what the chart derives. */}}
{{- define "truthgate.settings" -}}
{{- $settings := deepCopy .Values.settings -}}
{{- $kafka := $settings.kafka | default dict -}}
{{- $_ := required "settings.kafka.bootstrap_servers is needed: where is Kafka?" $kafka.bootstrap_servers -}}
{{- $own := printf "%s.%s" .Release.Namespace .Release.Name -}}
{{- with dig "shadow" "name" "" $settings -}}
{{- if or (kindIs "invalid" $kafka.topic_prefix) (not $kafka.consumer_group) -}}
{{- fail (printf "settings.shadow.name %s needs settings.kafka.topic_prefix and consumer_group, those of the release that decides" .) -}}
{{- end -}}
{{- if $.Values.desk.enabled -}}
{{- fail (printf "settings.shadow.name %s: a release in shadow has no desk" .) -}}
{{- end -}}
{{- end -}}
{{- if kindIs "invalid" $kafka.topic_prefix -}}
{{- $_ := set $kafka "topic_prefix" (printf "%s." $own) -}}
{{- end -}}
{{- if not $kafka.consumer_group -}}
{{- $_ := set $kafka "consumer_group" $own -}}
{{- end -}}
{{- range include "truthgate.kafkaFiles" . | fromJsonArray -}}
{{- $_ := set $kafka .setting (printf "/etc/truthgate/tls/kafka/%s" .file) -}}
{{- end -}}
{{- $_ := set $settings "kafka" $kafka -}}
{{- $scoring := $settings.scoring | default dict -}}
{{- $_ := set $settings "scoring" (merge $scoring (dict "processes" (include "truthgate.processes" . | int))) -}}
{{- if .Values.libretranslate.enabled -}}
{{- $address := printf "http://%s:5000" (include "truthgate.libretranslateName" .) -}}
{{- $provider := dig "translation" "provider" "" $settings | default "libretranslate" -}}
{{- if ne $provider "libretranslate" -}}
{{- fail (printf "libretranslate.enabled is for settings.translation.provider libretranslate, not %s" $provider) -}}
{{- end -}}
{{- $translation := dict "provider" "libretranslate" "base_url" $address -}}
{{- $_ := set $settings "translation" (mergeOverwrite $translation ($settings.translation | default dict)) -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{/* The consumer group that the workers read in: that of the settings, or of their shadow. */}}
{{- define "truthgate.consumerGroup" -}}
{{- $settings := include "truthgate.settings" . | fromJson -}}
{{- $shadow := dig "shadow" "name" "" $settings -}}
{{- $settings.kafka.consumer_group }}{{ if $shadow }}-shadow-{{ $shadow }}{{ end -}}
{{- end -}}

{{/* The certificate files for Kafka, in JSON: setting, file, Secret with key, and the parameter of KEDA for each. */}}
{{- define "truthgate.kafkaFiles" -}}
{{- $files := list -}}
{{- with .Values.tls.kafka -}}
{{- $client := .clientSecretName | default .secretName -}}
{{- if ne (empty .certKey) (empty .keyKey) -}}
{{- fail "tls.kafka.certKey and keyKey go together" -}}
{{- end -}}
{{- if and .certKey (not $client) -}}
{{- fail "tls.kafka.certKey needs clientSecretName or secretName: whose key is it?" -}}
{{- end -}}
{{- if and .secretName .caKey -}}
{{- $files = append $files (dict "setting" "ssl_cafile" "file" "ca.crt" "name" .secretName "key" .caKey "parameter" "ca") -}}
{{- end -}}
{{- if .certKey -}}
{{- $files = append $files (dict "setting" "ssl_certfile" "file" "tls.crt" "name" $client "key" .certKey "parameter" "cert") -}}
{{- $files = append $files (dict "setting" "ssl_keyfile" "file" "tls.key" "name" $client "key" .keyKey "parameter" "key") -}}
{{- end -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* Scoring processes. truthgate's default, one per processor, would need an unknown amount of memory. */}}
{{- define "truthgate.processes" -}}
{{- dig "scoring" "processes" 1 .Values.settings | default 1 -}}
{{- end -}}

{{/* The port of the pages; 0 means any free port, which a container cannot declare. */}}
{{- define "truthgate.port" -}}
{{- $port := include "truthgate.setting" (list . "web" "port") | int -}}
{{- if not $port -}}
{{- fail "settings.web.port 0 is any free port, which probes cannot find" -}}
{{- end -}}
{{- $port -}}
{{- end -}}

{{/* A setting or its default: (list $ "flow" "answer_timeout_seconds"), in JSON. */}}
{{- define "truthgate.setting" -}}
{{- $root := first . -}}
{{- $path := rest . -}}
{{- $defaults := $root.Files.Get "files/defaults.json" | fromJson -}}
{{- $found := dig (first $path) (last $path) nil ($root.Values.settings | default dict) -}}
{{- if kindIs "invalid" $found -}}
{{- $found = dig (first $path) (last $path) nil $defaults -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* The configuration file. Helm reads every number of the values as a float, and truthgate takes 6.0 for 6. */}}
{{- define "truthgate.configFile" -}}
# Written by the chart from its values.
{{ include "truthgate.settings" . | fromJson | toToml }}
{{- end -}}

{{/* The drain budget: the time in which all answers in progress get their verdicts and are committed. */}}
{{- define "truthgate.drainSeconds" -}}
{{- $answer := include "truthgate.setting" (list . "flow" "answer_timeout_seconds") | float64 -}}
{{- $send := include "truthgate.setting" (list . "kafka" "delivery_timeout_seconds") | float64 -}}
{{- addf $answer (mulf 2 (addf $send 5)) 30 .Values.preStopSleepSeconds | ceil | int -}}
{{- end -}}

{{- define "truthgate.gracePeriodSeconds" -}}
{{- $drain := include "truthgate.drainSeconds" . | int -}}
{{- if kindIs "invalid" .Values.terminationGracePeriodSeconds -}}
{{- add $drain 15 -}}
{{- else if lt (int .Values.terminationGracePeriodSeconds) $drain -}}
{{- fail (printf "terminationGracePeriodSeconds should be at least %d, the time that a worker may take to stop" $drain) -}}
{{- else -}}
{{- int .Values.terminationGracePeriodSeconds -}}
{{- end -}}
{{- end -}}

{{- define "truthgate.secretData" -}}
{{- $data := dict -}}
{{- range $setting, $value := .Values.secrets.values -}}
{{- $_ := set $data $setting ($value | toString | b64enc) -}}
{{- end -}}
{{- toYaml $data -}}
{{- end -}}
