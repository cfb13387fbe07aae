{
  const record = document.getElementById("record").textContent;
  const link = document.getElementById("download");
  link.href = URL.createObjectURL(new Blob([record], { type: "application/json" }));
  link.hidden = false;
}
