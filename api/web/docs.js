"use strict";

const at = (id) => document.getElementById(id);

function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** A schema as an example of its shape: field names with their types. */
function shape(schema, all, depth = 0) {
  if (!schema || depth > 6) return "…";
  if (schema.$ref) return shape(all[schema.$ref.split("/").pop()], all, depth + 1);
  if (schema.anyOf) {
    const shapes = schema.anyOf.map((one) => shape(one, all, depth));
    return shapes.every((one) => typeof one === "string") ? shapes.join(" | ") : shapes[0];
  }
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.type === "array") return [shape(schema.items, all, depth + 1)];
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, of]) => [name, shape(of, all, depth + 1)]));
  }
  return schema.format ? `${schema.type} (${schema.format})` : schema.type || "any";
}

function described(path, method, call, schemas) {
  const item = element("details");
  const summary = element("summary");
  summary.append(element("code", `${method.toUpperCase()} ${path}`), ` ${call.description || ""}`);
  item.append(summary);
  if (call.parameters && call.parameters.length) {
    const names = call.parameters.map(({ name, required, schema }) => `${name}${required ? "" : "?"}: ${shape(schema, schemas)}`);
    item.append(element("p", "Parameters"), element("pre", names.join("\n")));
  }
  const parts = [["Body", call.requestBody], ...Object.entries(call.responses).filter(([code]) => code < 300)];
  for (const [title, part] of parts) {
    for (const [type, { schema }] of Object.entries((part && part.content) || {})) {
      item.append(element("p", `${title} (${type})`), element("pre", JSON.stringify(shape(schema, schemas), null, 2)));
    }
  }
  return item;
}

async function show() {
  const token = sessionStorage.getItem("token");
  const response = await fetch("/openapi.json", { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  const api = await response.json();
  if (!response.ok) throw new Error(api.detail);
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, call] of Object.entries(methods)) {
      at("calls").append(described(path, method, call, api.components.schemas));
    }
  }
}

show().catch((error) => { at("notice").textContent = error.message; });
