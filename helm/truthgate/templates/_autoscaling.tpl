{{/* The maximum number of workers: at most one per partition, since more would be idle. */}}
{{- define "truthgate.maxReplicas" -}}
{{- $partitions := include "truthgate.setting" (list . "topics" "partitions") | int -}}
{{- $most := .Values.autoscaling.maxReplicas | default $partitions | int -}}
{{- if gt $most $partitions -}}
{{- fail (printf "autoscaling.maxReplicas %d is more than settings.topics.partitions %d: the workers beyond would be idle" $most $partitions) -}}
{{- end -}}
{{- if gt (int .Values.autoscaling.minReplicas) $most -}}
{{- fail (printf "autoscaling.minReplicas %d is more than the maximum of %d" (int .Values.autoscaling.minReplicas) $most) -}}
{{- end -}}
{{- $most -}}
{{- end -}}

{{/*
How KEDA connects to Kafka, in JSON: "metadata" for the trigger, "secrets" for the TriggerAuthentication, and "data" for
a Secret with the settings that are no secrets but that KEDA reads from Secrets only.
*/}}
{{- define "truthgate.kedaAccess" -}}
{{- $kafka := (include "truthgate.settings" . | fromJson).kafka -}}
{{- $protocol := $kafka.security_protocol | default "PLAINTEXT" -}}
{{- $name := include "truthgate.fullname" . -}}
{{- $metadata := dict -}}
{{- $data := dict -}}
{{- $secrets := list -}}
{{- $settings := dict -}}
{{- $clear := dict -}}
{{- if contains "SSL" $protocol -}}
{{- $_ := set $metadata "tls" "enable" -}}
{{- $_ := set $settings "keyPassword" "kafka.ssl_key_password" -}}
{{- range include "truthgate.kafkaFiles" . | fromJsonArray -}}
{{- $secrets = append $secrets (pick . "parameter" "name" "key") -}}
{{- end -}}
{{- end -}}
{{- if contains "SASL" $protocol -}}
{{- $mechanism := $kafka.sasl_mechanism | default "SCRAM-SHA-512" -}}
{{- $names := dict "PLAIN" "plaintext" "SCRAM-SHA-256" "scram_sha256" "SCRAM-SHA-512" "scram_sha512" "OAUTHBEARER" "oauthbearer" -}}
{{- $_ := set $metadata "sasl" (get $names $mechanism) -}}
{{- $own := dict "username" "kafka.sasl_username" "password" "kafka.sasl_password" -}}
{{- $clear = dict "kafka.sasl_username" $kafka.sasl_username -}}
{{- if eq $mechanism "OAUTHBEARER" -}}
{{- $oauth := $kafka.oauth | default dict -}}
{{- $extensions := list -}}
{{- range $key, $value := $oauth.extensions | default dict -}}
{{- $extensions = append $extensions (printf "%s=%s" $key $value) -}}
{{- end -}}
{{- $own = merge $own (dict "oauthTokenEndpointUri" "kafka.oauth.token_url" "scopes" "kafka.oauth.scope" "oauthExtensions" "kafka.oauth.extensions") -}}
{{- $clear = dict "kafka.sasl_username" $kafka.sasl_username "kafka.oauth.token_url" $oauth.token_url "kafka.oauth.scope" ($oauth.scope | default "" | replace " " ",") "kafka.oauth.extensions" (join "," $extensions) -}}
{{- end -}}
{{- $settings = merge $settings $own -}}
{{- end -}}
{{- range $parameter, $setting := $settings -}}
{{- if hasKey $.Values.secrets.existing $setting -}}
{{- $secrets = append $secrets (merge (dict "parameter" $parameter) (get $.Values.secrets.existing $setting)) -}}
{{- else if hasKey $.Values.secrets.values $setting -}}
{{- $secrets = append $secrets (dict "parameter" $parameter "name" $name "key" $setting) -}}
{{- else if get $clear $setting -}}
{{- $_ := set $data $parameter (get $clear $setting | toString | b64enc) -}}
{{- $secrets = append $secrets (dict "parameter" $parameter "name" (printf "%s-keda" $name) "key" $parameter) -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "metadata" $metadata "data" $data "secrets" $secrets) -}}
{{- end -}}
