{{/* The Secret and key of each secret setting, in JSON: (dict "root" $ "name" <of the chart's own Secret>). */}}
{{- define "truthgate.secrets" -}}
{{- $secrets := dict -}}
{{- range $setting, $_ := .root.Values.secrets.values -}}
{{- $_ := set $secrets $setting (dict "name" $.name "key" $setting) -}}
{{- end -}}
{{- toJson (merge (deepCopy .root.Values.secrets.existing) $secrets) -}}
{{- end -}}

{{/* Environment variables of all containers: (dict "root" $ "name" <of ConfigMap and Secret>). */}}
{{- define "truthgate.env" -}}
{{- $secrets := include "truthgate.secrets" . | fromJson -}}
- name: TRUTHGATE_CONFIG
  value: /etc/truthgate/truthgate.toml
{{- $files := eq .root.Values.secrets.as "files" }}
{{- range $setting, $secret := $secrets }}
{{- $variable := printf "TRUTHGATE_%s" ($setting | replace "." "__" | upper) }}
{{- if $files }}
- name: {{ $variable }}_FILE
  value: /run/secrets/truthgate/{{ $setting }}
{{- else }}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef:
      {{- toYaml $secret | nindent 6 }}
{{- end }}
{{- end }}
{{- with .root.Values.extraEnv }}
{{- include "truthgate.checkExtraEnv" (dict "root" $.root "secrets" $secrets) }}
{{ tpl (toYaml .) $.root }}
{{- end }}
{{- end -}}

{{/*
Refuse variables in extraEnv that override a setting which the chart reads or sets: topic names, ports, timeouts and
memory would differ from what it derived. (dict "root" $ "secrets" <from truthgate.secrets>)
*/}}
{{- define "truthgate.checkExtraEnv" -}}
{{- $taken := dict "TRUTHGATE_CONFIG" "the chart's own file" "TRUTHGATE_KAFKA__GROUP_INSTANCE_ID" "the pod's name" -}}
{{- $derived := dict "kafka" (dict "bootstrap_servers" "" "consumer_group" "" "topic_prefix" "") "scoring" (dict "processes" "") -}}
{{- range $section, $settings := merge $derived (.root.Files.Get "files/defaults.json" | fromJson) -}}
{{- $_ := set $taken (printf "TRUTHGATE_%s" (upper $section)) (printf "settings.%s" $section) -}}
{{- range $setting, $_ := $settings -}}
{{- $_ := set $taken (printf "TRUTHGATE_%s__%s" $section $setting | upper) (printf "settings.%s.%s" $section $setting) -}}
{{- end -}}
{{- end -}}
{{- range $setting, $_ := .secrets -}}
{{- $variable := printf "TRUTHGATE_%s" ($setting | replace "." "__" | upper) -}}
{{- range $name := list $variable (printf "%s_FILE" $variable) -}}
{{- $_ := set $taken $name (printf "%s of secrets" $setting) -}}
{{- end -}}
{{- end -}}
{{- range $extra := .root.Values.extraEnv -}}
{{- with get $taken (upper $extra.name) -}}
{{- fail (printf "extraEnv has %s, which the chart reads or sets: it is %s" $extra.name .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "truthgate.volumeMounts" -}}
- name: config
  mountPath: /etc/truthgate/truthgate.toml
  subPath: truthgate.toml
  readOnly: true
- name: tmp
  mountPath: /tmp
{{- if and (eq .Values.secrets.as "files") (or .Values.secrets.values .Values.secrets.existing) }}
- name: secrets
  mountPath: /run/secrets/truthgate
  readOnly: true
{{- end }}
{{- if include "truthgate.kafkaFiles" . | fromJsonArray }}
- name: tls-kafka
  mountPath: /etc/truthgate/tls/kafka
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ tpl (toYaml .) $ }}
{{- end }}
{{- end -}}

{{/* Volumes of all pods: (dict "root" $ "name" <of ConfigMap and Secret>). */}}
{{- define "truthgate.volumes" -}}
{{- $secrets := include "truthgate.secrets" . | fromJson -}}
- name: config
  configMap:
    name: {{ .name | quote }}
- name: tmp
  emptyDir:
    sizeLimit: {{ .root.Values.tmp.sizeLimit | quote }}
    {{- with .root.Values.tmp.medium }}
    medium: {{ . }}
    {{- end }}
{{- if and $secrets (eq .root.Values.secrets.as "files") }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range $setting, $secret := $secrets }}
      - secret:
          name: {{ $secret.name | quote }}
          items:
            - key: {{ $secret.key | quote }}
              path: {{ $setting }}
      {{- end }}
{{- end }}
{{- with include "truthgate.kafkaFiles" .root | fromJsonArray }}
- name: tls-kafka
  projected:
    defaultMode: 0440
    sources:
      {{- range . }}
      - secret:
          name: {{ .name | quote }}
          items:
            - key: {{ .key | quote }}
              path: {{ .file }}
      {{- end }}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ tpl (toYaml .) $.root }}
{{- end }}
{{- end -}}

{{/* What all pods have in common. */}}
{{- define "truthgate.podCommon" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- range $name := list "nodeSelector" "tolerations" "priorityClassName" "schedulerName" "runtimeClassName" "hostAliases" "dnsPolicy" "dnsConfig" }}
{{- with get $.Values $name }}
{{ toYaml (dict $name .) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What all containers have in common: (dict "root" $ "args" (list "worker") "resources" ...). */}}
{{- define "truthgate.container" -}}
image: {{ include "truthgate.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .args }}
{{- with .root.Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .resources | nindent 2 }}
securityContext:
  {{- toYaml .root.Values.securityContext | nindent 2 }}
{{- end -}}

{{/* A pod that runs one command: (dict "root" $ "name" <of ConfigMap and Secret> "component" "test" "args" (list ...)). */}}
{{- define "truthgate.commandPod" -}}
restartPolicy: Never
{{ include "truthgate.podCommon" .root }}
containers:
  - name: {{ .component }}
    {{- include "truthgate.container" (merge (dict "resources" .root.Values.topics.job.resources) .) | nindent 4 }}
    env:
      {{- include "truthgate.env" . | nindent 6 }}
    volumeMounts:
      {{- include "truthgate.volumeMounts" .root | nindent 6 }}
volumes:
  {{- include "truthgate.volumes" . | nindent 2 }}
{{- end -}}

{{/* A probe of a worker: (dict "root" $ "path" "/readyz" "command" (list ...) "probe" .Values.probes.readiness). */}}
{{- define "truthgate.probe" -}}
{{- $probe := .probe -}}
{{- $host := dig "web" "host" "" .root.Values.settings | default "" -}}
{{- if and (not .root.Values.probes.byCommand) (regexMatch "^(127\\.|::1$|localhost$)" $host) -}}
{{- fail (printf "settings.web.host %s cannot be reached from outside the pod: set probes.byCommand" $host) -}}
{{- end -}}
{{- if .root.Values.probes.byCommand -}}
{{- $slower := dict "periodSeconds" (max 10 (int $probe.periodSeconds)) "timeoutSeconds" (max 15 (int $probe.timeoutSeconds)) -}}
{{- $probe = merge $slower $probe -}}
exec:
  command: {{ toJson .command }}
{{- else -}}
httpGet:
  path: {{ .path }}
  port: http
{{- end }}
{{ toYaml $probe }}
{{- end -}}

{{/*
Requests and limits of a worker: those of the values, and defaults that follow from the settings. A limit in the values
is the default of its request, as in Kubernetes.
*/}}
{{- define "truthgate.resources" -}}
{{- $memory := printf "%dMi" (include "truthgate.memoryMiB" . | int) -}}
{{- $cpu := printf "%dm" (add (mul 1000 (include "truthgate.processes" . | int)) 250) -}}
{{- $requests := merge (pick (.Values.resources.limits | default dict) "cpu" "memory") (dict "cpu" $cpu "memory" $memory) -}}
{{- $derived := dict "requests" $requests "limits" (dict "memory" $memory) -}}
{{- toYaml (mergeOverwrite $derived (deepCopy .Values.resources)) -}}
{{- end -}}

{{/* The memory of a worker; the README says how these figures were measured. */}}
{{- define "truthgate.memoryMiB" -}}
{{- $processes := include "truthgate.processes" . | int -}}
{{- $scoring := addf 320 (mulf 1.1 $processes 460) -}}
{{- $main := 160 -}}
{{- $retrieval := 0 -}}
{{- if include "truthgate.setting" (list . "retrieval" "embedder") | trimAll "\"" | ne "none" -}}
{{- $retrieval = add 220 (mul 210 (include "truthgate.setting" (list . "retrieval" "embedding_processes") | int)) -}}
{{- end -}}
{{- $tmp := ternary 128 0 (eq .Values.tmp.medium "Memory") -}}
{{- addf $main $retrieval $tmp $scoring (include "truthgate.rememberedMiB" . | float64) | ceil | int -}}
{{- end -}}

{{/* The verdicts that the rates' leader keeps in memory: 145 bytes each, until they are in no window any more. */}}
{{- define "truthgate.rememberedMiB" -}}
{{- $seconds := 0.0 -}}
{{- if include "truthgate.setting" (list . "rates" "enabled") | eq "true" -}}
{{- range include "truthgate.setting" (list . "rates" "windows") | fromJsonArray -}}
{{- $seconds = maxf $seconds .size_seconds -}}
{{- end -}}
{{- $seconds = addf $seconds (include "truthgate.setting" (list . "rates" "retention_seconds") | float64) -}}
{{- end -}}
{{- /* They are dropped in twelve steps of that time. */ -}}
{{- divf (mulf 145 .Values.answersPerSecond $seconds (divf 13 12)) 1048576 -}}
{{- end -}}
