{{/* The name of the chart, as a label has it. */}}
{{- define "truthgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of the resources. 52: a pod's label is the StatefulSet's name and a hash, 63 characters at most. */}}
{{- define "truthgate.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What chooses the pods of a component: (dict "root" $ "component" "worker"). */}}
{{- define "truthgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "truthgate.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of pods: none changes with the chart's version alone, or each upgrade would restart the workers. */}}
{{- define "truthgate.podLabels" -}}
{{ include "truthgate.selectorLabels" . }}
app.kubernetes.io/part-of: truthgate
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "truthgate.labels" -}}
{{ include "truthgate.podLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* The metadata that all resources have: (dict "root" $ "component" "worker" "name" ... "labels" ... "annotations" ...). */}}
{{- define "truthgate.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "truthgate.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "truthgate.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "truthgate.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "truthgate.image" -}}
{{- include "truthgate.imageOf" (dict "image" .Values.image "tag" (default .Chart.AppVersion .Values.image.tag)) -}}
{{- end -}}

{{/* An image by its digest, or else by its tag. */}}
{{- define "truthgate.imageOf" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .tag }}
{{- end -}}
{{- end -}}
