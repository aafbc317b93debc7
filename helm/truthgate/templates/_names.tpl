{{/* The name in the label app.kubernetes.io/name. */}}
{{- define "truthgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/*
The name of most resources, Services among them: it has no dots and begins with a letter. At most 52 characters, since a
label of the pods is the StatefulSet's name and a hash, with a limit of 63.
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

{{/* The name of the release's LibreTranslate; a Service's name has at most 63 characters. */}}
{{- define "truthgate.libretranslateName" -}}
{{- printf "%s-libretranslate" (include "truthgate.fullname" . | trunc 48 | trimSuffix "-") -}}
{{- end -}}

{{/* The name of the review desk's resources. */}}
{{- define "truthgate.deskName" -}}
{{- printf "%s-desk" (include "truthgate.fullname" .) -}}
{{- end -}}

{{/* The labels that select the pods of a component: (dict "root" $ "component" "worker"). */}}
{{- define "truthgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "truthgate.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/*
Labels of pods, with the users' in "labels". No label depends on the chart's version, since each upgrade would then
restart the workers. Selector labels win over the users' labels, and those over the rest.
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
