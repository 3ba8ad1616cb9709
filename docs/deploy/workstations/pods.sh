#!/bin/sh
# Registers the pods of `kubectl get pods -o json` as workstations, and releases those that are gone:
#
#   kubectl get pods -A -l gatehouse/workstation -o json |
#     GATEHOUSE=https://ai.example.com KEY_FILE=/run/secrets/key CREDENTIAL=vm pods.sh
#
# A pod's label gatehouse/workstation is the name, its port named vnc the port (else 5900), its UID the
# generation. One that is being deleted, or has no address yet, is left out, and so is released.
# KEY_FILE has a key with the scope workstations:manage. SOURCE and CREDENTIAL may be left out. It needs
# jq and curl. The answer is printed; a refusal makes it fail.
set -eu
umask 077
list=$(mktemp)
trap 'rm -f "$list"' EXIT

jq --arg source "${SOURCE:-kubernetes}" --arg credential "${CREDENTIAL:-}" '
	def host: if contains(":") then "[\(.)]" else . end;
	def port: first(.spec.containers[].ports[]? | select(.name == "vnc") | .containerPort) // 5900;
	{source: $source, complete: true, items: [
		.items[]
		| select(.metadata.labels["gatehouse/workstation"] and .status.podIP and (.metadata.deletionTimestamp | not))
		| {
			workstation_id: .metadata.labels["gatehouse/workstation"],
			address: "\(.status.podIP | host):\(port)",
			generation: .metadata.uid,
			labels: {namespace: .metadata.namespace}
		} + if $credential == "" then {} else {credential: $credential} end
	]}' >"$list"

# The key comes from a file, so that it is in no list of processes.
printf 'Authorization: Bearer %s\n' "$(cat "$KEY_FILE")" |
	curl -sS --fail-with-body -H @- -H 'Content-Type: application/json' --data-binary "@$list" "$GATEHOUSE/v1/workstations/sync"
