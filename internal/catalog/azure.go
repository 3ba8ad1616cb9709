package catalog

import "cmp"

// nameIn returns the name of an entry of a list, and the model that it is a deployment of, "" for a
// model itself. Azure OpenAI lists {"data": [{"object": "deployment", "id", "model"}]}, a project of
// Microsoft Foundry {"value": [{"type": "ModelDeployment", "name", "modelName"}]}.
func (f facts) nameIn() (name, base string) {
	if f.text("object") == "deployment" {
		base = f.text("model")
	}
	if f.text("type") == "ModelDeployment" {
		name, base = f.text("name"), f.text("modelName")
	}
	return cmp.Or(f.listedName(), name), base
}
