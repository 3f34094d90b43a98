(() => {
  "use strict";
  const input = document.getElementById("api-key");
  const name = "marketplace-api-key:" + location.pathname;
  // Storage is not available in all browser settings; the box works without it.
  const storage = {
    read() { try { return sessionStorage.getItem(name); } catch { return null; } },
    write(key) { try { sessionStorage.setItem(name, key); } catch { /* not kept */ } },
  };
  input.value = storage.read() ?? input.dataset.demoKey;
  input.addEventListener("input", () => storage.write(input.value));
  // The address of the server is relative to this page, which can be reached by several host names.
  for (const server of spec.servers) server.url = new URL(server.url, location.href).href.replace(/\/$/, "");
  SwaggerUIBundle({
    dom_id: "#ui",
    spec,
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    requestInterceptor(request) {
      const key = input.value.trim();
      if (key) request.headers.Authorization = "Bearer " + key;
      return request;
    },
  });
})();
