{{/* The name of the chart, as a label has it. */}}
{{- define "truthgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/*
The name of the resources, which is that of Services too: no dots, and no digit first. 52: a pod's label is the
StatefulSet's name and a hash, 63 characters at most.
*/}}
{{- define "truthgate.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := printf "%s-%s" .Release.Name $name -}}
{{- if .Values.fullnameOverride -}}
{{- $full = .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- $full = .Release.Name -}}
{{- end -}}
{{- $full = $full | replace "." "-" | trunc 52 | trimSuffix "-" -}}
{{- if not (regexMatch "^[a-z]" $full) -}}
{{- fail (printf "%s cannot be the name of a Service, which begins with a letter: set fullnameOverride" $full) -}}
{{- end -}}
{{- $full -}}
{{- end -}}

{{/* The name of its own LibreTranslate: a Service's, so 63 characters at most. */}}
{{- define "truthgate.libretranslateName" -}}
{{- printf "%s-libretranslate" (include "truthgate.fullname" . | trunc 48 | trimSuffix "-") -}}
{{- end -}}

{{/* What chooses the pods of a component: (dict "root" $ "component" "worker"). */}}
{{- define "truthgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "truthgate.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/*
Labels of pods, those of users in "labels": none changes with the chart's version alone, or each upgrade would restart
the workers. What chooses pods wins over users' labels, these over the rest, and each stands there once.
*/}}
{{- define "truthgate.podLabels" -}}
{{- $selector := include "truthgate.selectorLabels" . | fromYaml -}}
{{- $usual := dict "app.kubernetes.io/part-of" "truthgate" -}}
{{- toYaml (merge $selector (.labels | default dict) .root.Values.commonLabels $usual) -}}
{{- end -}}

{{- define "truthgate.labels" -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- $own := dict "app.kubernetes.io/version" .root.Chart.AppVersion "app.kubernetes.io/managed-by" .root.Release.Service "helm.sh/chart" $chart -}}
{{- toYaml (merge $own (include "truthgate.podLabels" . | fromYaml)) -}}
{{- end -}}

{{/* The metadata of a resource: (dict "root" $ "component" "worker" "name" ...), and perhaps namespace, labels, annotations. */}}
{{- define "truthgate.metadata" -}}
name: {{ .name | quote }}
namespace: {{ .namespace | default .root.Release.Namespace | quote }}
labels:
  {{- include "truthgate.labels" . | nindent 2 }}
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
{{- include "truthgate.imageOf" (dict "root" $ "image" .Values.image "tag" (default .Chart.AppVersion .Values.image.tag)) -}}
{{- end -}}

{{/* An image by its digest or else by its tag: (dict "root" $ "image" .Values.image "tag" ...). */}}
{{- define "truthgate.imageOf" -}}
{{- with .root.Values.global.imageRegistry | default .image.registry }}{{ . }}/{{ end -}}
{{ .image.repository }}{{ .image.digest | empty | ternary (printf ":%s" .tag) (printf "@%s" .image.digest) }}
{{- end -}}
