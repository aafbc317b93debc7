{{/* Where each secret setting is, in JSON: (dict "root" $ "name" <that of the chart's own Secret>). */}}
{{- define "truthgate.secrets" -}}
{{- $secrets := dict -}}
{{- range $setting, $_ := .root.Values.secrets.values -}}
{{- $_ := set $secrets $setting (dict "name" $.name "key" $setting) -}}
{{- end -}}
{{- toJson (merge (deepCopy .root.Values.secrets.existing) $secrets) -}}
{{- end -}}

{{/* Variables of all containers: (dict "root" $ "name" <that of ConfigMap and Secret>). */}}
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
{{ tpl (toYaml .) $.root }}
{{- end }}
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

{{/* Volumes of all pods: (dict "root" $ "name" <that of ConfigMap and Secret>). */}}
{{- define "truthgate.volumes" -}}
{{- $secrets := include "truthgate.secrets" . | fromJson -}}
- name: config
  configMap:
    name: {{ .name }}
- name: tmp
  emptyDir:
    sizeLimit: {{ .root.Values.tmp.sizeLimit }}
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
          name: {{ $secret.name }}
          items:
            - key: {{ $secret.key }}
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
          name: {{ .name }}
          items:
            - key: {{ .key }}
              path: {{ .file }}
      {{- end }}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ tpl (toYaml .) $.root }}
{{- end }}
{{- end -}}

{{/* What all pods have alike. */}}
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

{{/* What asks a worker: (dict "root" $ "path" "/readyz" "command" (list ...) "probe" .Values.probes.readiness). */}}
{{- define "truthgate.probe" -}}
{{- $probe := .probe -}}
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

{{/* The ServiceAccount of a pod that may run before the chart's own is there. */}}
{{- define "truthgate.earlyServiceAccount" -}}
{{- if and (not .Values.serviceAccount.create) .Values.serviceAccount.name -}}
serviceAccountName: {{ .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* Requests and limits of a worker: those of the values, and what follows from the settings for what they leave out. */}}
{{- define "truthgate.resources" -}}
{{- $memory := printf "%dMi" (include "truthgate.memoryMiB" . | int) -}}
{{- $processes := include "truthgate.processes" . | int -}}
{{- $cpu := printf "%dm" (add (mul 1000 $processes) 250) -}}
{{- $derived := dict "requests" (dict "cpu" $cpu "memory" $memory) "limits" (dict "memory" $memory) -}}
{{- toYaml (mergeOverwrite $derived (deepCopy .Values.resources)) -}}
{{- end -}}

{{/* The memory of a worker; the README says which of these figures were measured, and how. */}}
{{- define "truthgate.memoryMiB" -}}
{{- $processes := include "truthgate.processes" . | int -}}
{{- $cached := include "truthgate.setting" (list . "scoring" "cached_characters") | float64 -}}
{{- $each := addf 300 (mulf 385 (divf $cached 4000000)) -}}
{{- $main := 450 -}}
{{- $retrieval := 0 -}}
{{- if include "truthgate.setting" (list . "retrieval" "enabled") | eq "true" -}}
{{- $retrieval = mul 210 (include "truthgate.setting" (list . "retrieval" "embedding_processes") | int) -}}
{{- end -}}
{{- $tmp := ternary 128 0 (eq .Values.tmp.medium "Memory") -}}
{{- addf $main $retrieval $tmp (mulf 1.1 (mulf $processes $each)) | ceil | int -}}
{{- end -}}
